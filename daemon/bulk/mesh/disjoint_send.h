// Which child gets which symbol where no child can have all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/base/member_set.h"

namespace spindled::mesh {

/// Bullet, section 3.3 and Fig. 5. Each symbol belongs to one child: to the one that is farthest below its *sending
/// factor*, its part of all descendants, or where that has no room, to the next one that has. So all symbols are with
/// alike numbers of members below. The other children get it besides as far as their *limiting factors* go: those
/// grow where a child takes what it is given, and shrink where it does not, or where a symbol finds no child that has
/// room: then copies of others have taken it.
class DisjointSend {
 public:
  /// Whether the child took it.
  using TrySend = std::function<bool(MemberIndex child)>;

  /// Children that stay keep what is known of them.
  void set_children(const std::vector<MemberIndex>& children);
  /// Once an epoch: what was sent is counted anew.
  void begin_epoch(const std::function<std::uint32_t(MemberIndex)>& descendants);
  /// Offers a symbol to the children; whether one of them took it.
  bool send(const TrySend& try_send);
  /// The same to all children alike, as who knows nothing of this would.
  bool send_to_all(const TrySend& try_send) const;

  double limiting_factor(MemberIndex child) const;

 private:
  struct Child {
    MemberIndex member = 0;
    double sending_factor = 1;
    double limiting_factor = 1;
    double due = 0;          // of symbols beyond its own: at 1 it is offered the next
    std::uint64_t sent = 0;  // that belong to it, in this epoch
  };
  void weigh(const std::function<std::uint32_t(MemberIndex)>& descendants);

  std::vector<Child> children_;
  std::uint64_t sent_ = 0;            // in this epoch
  std::uint64_t symbols_before_ = 0;  // in the epoch before
};

}  // namespace spindled::mesh
