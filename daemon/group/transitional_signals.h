// The transitional signals that local members of groups get as a view ends.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>

#include "daemon/group/group_state.h"

namespace spindled {

/// A group gets a signal where some of its members do not move on together with this daemon, and each of its local
/// members gets it once; then the group is *signalled*. The next view that is told ends it. Until then the group is
/// *owed* one, also across views that are never told (docs/decisions/0005-signals-by-group.md).
class TransitionalSignals {
 public:
  explicit TransitionalSignals(GroupState& state) : state_(state) {}

  /// The view ends: `together` are the members that move on with this daemon.
  void begin(const MemberSet& together) { together_ = together; }
  /// Whether the view ends, and not all of it move on together.
  bool are_due() const { return !together_.empty(); }
  /// The next view has begun. `was_told`: members were told of the last one.
  void end(bool was_told);

  /// In steps, to the local members of all groups that are split.
  void signal_split(Time now);
  /// In steps, to those of the groups some of whose members were lost with a view that was never told: they are of
  /// `came_along` into it, and do not move on together.
  void signal_parted(Time now, const MemberSet& came_along);
  /// A join told behind the signal.
  void signal_join(const Group& group, MemberIndex daemon, SessionId session);
  /// A view of a synchronous group that stands behind the signal, and has `newcomers` here, who had none. One that a
  /// change of the network has caused ends the signal that its members have had.
  void signal_view(const Group& group, bool is_of_network, std::span<const SessionId> newcomers);
  /// To all local members of the group that gets a message, where they have had none.
  void signal_group(const Group& group);

  /// Groups whose local members got a signal that a view has to end.
  const std::set<std::string, std::less<>>& owed() const { return owed_; }
  /// The view that ends them has been told: nothing is owed any more.
  std::set<std::string, std::less<>> take_owed() { return std::exchange(owed_, {}); }

 private:
  bool is_split(const Group& group) const;
  /// To the local members that have a view of it.
  void signal(const Group& group);
  void signal(const Group& group, std::span<const SessionId> to);
  void signal_parted(const Group& group, const MemberSet& came_along);
  ToldGroup as_told(const Group& group) const;

  GroupState& state_;
  MemberSet together_;
  std::set<std::string, std::less<>> signalled_;
  std::set<std::string, std::less<>> owed_;
};

}  // namespace spindled
