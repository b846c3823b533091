// How much a reply may still hold.
#pragma once

#include <algorithm>
#include <cstddef>

#include "daemon/admin/admin_frames.h"
#include "daemon/base/member_set.h"
#include "libclient/common/names.h"

namespace spindled {

/// Counts down the items of a page and the bytes of a reply. A list stops at the first item that finds no room.
class PageRoom {
 public:
  explicit PageRoom(std::size_t limit)
      : items_(limit == 0 ? kAdminPageDefault : std::min(limit, kAdminPageMax)),
        bytes_(kAdminReplyBytesMax - kReserve) {}

  std::size_t items() const { return items_; }
  bool full() const { return items_ == 0 || bytes_ == 0; }
  void take_item(std::size_t bytes) {
    --items_;
    take(bytes);
  }
  /// False, and nothing more fits from here on, where the reply has no room for `bytes`.
  bool take(std::size_t bytes) {
    const std::size_t needed = bytes + kItemOverhead;
    if (needed > bytes_) {
      bytes_ = 0;
      return false;
    }
    bytes_ -= needed;
    return true;
  }

 private:
  static constexpr std::size_t kItemOverhead = 6;  // tag and length
  // Kept free for what an item holds beside its list of members: counts, its daemons, names.
  static constexpr std::size_t kReserve = 512u << 10;
  static_assert(kReserve > 2 * kMembersMax * (spindle::kDaemonNameBytesMax + kItemOverhead));

  std::size_t items_;
  std::size_t bytes_;
};

}  // namespace spindled
