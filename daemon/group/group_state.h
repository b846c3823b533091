// What the parts of the group layer share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/steps.h"
#include "daemon/group/group_table.h"
#include "daemon/group/local_clients.h"
#include "daemon/group/membership_observers.h"
#include "daemon/group/operations.h"
#include "daemon/group/pending_view.h"
#include "daemon/group/told_groups.h"
#include "daemon/order/order.h"

namespace spindled {

/// The group table and the view that it is of. `Groups` makes it first, and its parts refer to it.
struct GroupState {
  explicit GroupState(Context& node_context)
      : context(node_context), log(context.log_sink, "group"), steps(context.turn) {}
  GroupState(const GroupState&) = delete;
  GroupState& operator=(const GroupState&) = delete;

  /// Whether the order layer is in the view of the table still.
  bool is_current() const { return epoch == order->epoch(); }
  /// Whether messages may be sent: the view is open and its group table complete.
  bool is_ready() const { return is_complete && is_current() && order->is_open(); }
  /// Whether operations may be: the view is open.
  bool is_open() const { return is_current() && order->is_open(); }
  /// The table of the last view that was complete, less what was lost since.
  const GroupTable& kept() const { return told && told->table() != nullptr ? *told->table() : table; }

  bool has_local_members(const Group& group) const { return !group.members_of(view.self).empty(); }
  /// Those that get its messages.
  void add_local_members(const Group& group, std::vector<SessionId>& to) const;
  std::vector<SessionId> local_members(const Group& group) const;
  std::string private_name(MemberIndex daemon, std::string_view client) const;

  /// To everybody, or to `destinations`.
  void originate(Time now, const GroupOperation& operation) const;
  void originate(Time now, const GroupOperation& operation, const MemberSet& destinations) const;
  void originate(Time now, ByteView operation, const MemberSet& destinations) const;
  /// Lets go of a table, a few groups at a time: a large one is not gone at once.
  void discard(Time now, GroupTable former);
  /// And of names.
  void discard(Time now, std::set<std::string, std::less<>> names);

  Context& context;
  Log log;
  Order* order = nullptr;  // the layers below and above: Groups::attach
  LocalClients* clients = nullptr;
  MembershipObservers observers;  // Groups::observe
  Steps steps;                    // what was handed up and is not done

  View view;                // that the table is of: the order layer may be ahead
  std::uint64_t epoch = 0;  // of `view`, as Order::epoch
  GroupTable table;
  /// Whether the table has what all members of the view have announced, local clients have been told, and what came
  /// early is delivered.
  bool is_complete = false;
  /// How often it has become so.
  std::uint64_t tables_completed = 0;
  /// Counts the changes of the table in this view: with the view's id, it names a group view.
  std::uint64_t changes = 0;

  /// From the point behind the transitional signal up to which others may have told changes before theirs, or from the
  /// installation of a view, until the table is complete. Changes meanwhile are told with the new view.
  std::optional<ToldGroups> told;
  /// Local sessions whose join came behind that point: members from the new view on, of which they are told, and no
  /// sooner.
  std::set<std::pair<GroupId, SessionId>> untold;
  /// Of synchronous groups: views that wait for local members. What has changed in these is told with them (Flushes).
  std::map<std::string, PendingView, std::less<>> pending_views;
};

}  // namespace spindled
