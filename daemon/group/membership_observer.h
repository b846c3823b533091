// What the group layer tells a channel beside it of members.
#pragma once

#include <cstdint>

#include "daemon/base/time.h"
#include "daemon/group/group_table.h"

namespace spindled {

/// Implemented by who keeps something for members of groups, the same at all daemons (Groups::observe). Calls come in
/// one order with operations: those that daemons make alike are at the same places at all that come along together.
class MembershipObserver {
 public:
  virtual ~MembershipObserver() = default;

  /// A local client has been told of its first view of the group. Not between `view_began` and `table_completed`, and
  /// not where changes are told later (Groups::tells_changes_later).
  virtual void member_came(Time now, const Group& group, SessionId session) = 0;
  /// A client, of whatever daemon, is no member from that position on; who is left has been told. The group goes where
  /// nobody is.
  virtual void member_left(Time now, std::uint64_t position, const Group& group, MemberIndex daemon,
                           SessionId session) = 0;
  /// The leave or disconnect of a local client enters the order next.
  virtual void member_leaves(Time now, SessionId session) = 0;

  /// The group layer is in the next view, and nothing of it was ordered. `to` is what the indices of daemons become;
  /// none: the daemon has not come along, and its members are gone. `came_along`, by new index, have the same table as
  /// this daemon. What is originated from here (Groups::originate_at_once) is in front of what this daemon says of its
  /// table: so all that others have said so is there when the table is complete.
  virtual void view_began(Time now, const GroupTable::Renumbering& to, const MemberSet& came_along) = 0;
  /// The table has all members of the new view, and local ones have been told.
  virtual void table_completed(Time now) = 0;
  /// Operations may be originated again. What clients have asked of groups comes behind what is originated here.
  virtual void opened(Time now) = 0;
};

}  // namespace spindled
