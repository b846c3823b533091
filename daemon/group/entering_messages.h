// Large messages of this daemon's clients that enter the network part by part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "daemon/base/member_set.h"
#include "daemon/group/operations.h"

namespace spindled {

/// A message of many packets that its sender pays one by one does not stand in the order while it does: others of the
/// same daemon would have to wait behind it. Its payload goes ahead in parts, unordered and reliable, to the daemons
/// that the message is for, and is kept there (PartialMessages). What is paid for last is the message: it takes its
/// place in the order, and says what has gone ahead. So it is of one view, whole; where the view ends before, the parts
/// are void at all daemons, and it begins anew in the next one (docs/decisions/0023).
///
/// All of this is of one view.
class EnteringMessages {
 public:
  /// So much is kept of one daemon's at most, complete.
  static constexpr std::size_t kBytesMax = 256u << 20;

  /// How many bytes of payload all of them together may have, complete, at one of `daemons`: each may have to keep as
  /// much of every other one. That is a quarter of the least limit of memory of any, shared out.
  static std::size_t room(std::size_t smallest_memory, std::size_t daemons) {
    return std::min(smallest_memory / (4 * std::max<std::size_t>(daemons, 1)), kBytesMax);
  }

  struct Entering {
    SessionId session = 0;
    MemberSet daemons;        // that the parts go to
    std::uint32_t total = 0;  // bytes of the payload
    std::uint32_t ahead = 0;  // of these, what has gone
  };

  /// Of all of them, complete.
  std::size_t bytes() const { return bytes_; }
  /// The number of a new one, never given before in the life of the daemon.
  std::uint64_t begin(Entering entering);
  /// Null where there is none of that number, or none any more; `begin` and `end` may move it.
  Entering* find(std::uint64_t number);
  const Entering* find(std::uint64_t number) const { return const_cast<EnteringMessages*>(this)->find(number); }
  void end(std::uint64_t number);
  /// The view ends.
  void clear();

  /// Calls `visit(number, const Entering&)` for each of the session's, which are then forgotten.
  template <typename Visit>
  void end_all_of(SessionId session, Visit&& visit) {
    for (auto each = entering_.begin(); each != entering_.end();) {
      const auto [number, entering] = *each++;
      if (entering.session != session) continue;
      end(number);
      visit(number, entering);
    }
  }

 private:
  std::map<std::uint64_t, Entering> entering_;
  std::uint64_t last_number_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace spindled
