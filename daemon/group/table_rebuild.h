// How the daemons of a new view come to one group table, and their clients hear of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/group/flushes.h"
#include "daemon/group/group_state.h"
#include "daemon/group/group_views.h"
#include "daemon/group/table_exchange.h"
#include "daemon/group/transitional_signals.h"

namespace spindled {

/// The phase from the installation of a view to the completion of its group table; there is one for each view. It takes
/// out of the table who has not come along, says what is left (TableExchange), builds the table anew where that is not
/// the same everywhere, and tells local members what has changed since they were told last.
///
/// All is done in steps (GroupState::steps), in the order of the calls. Where the order has gone on to another view
/// there is nobody to say anything to, and the table will not be complete.
class TableRebuild {
 public:
  /// `came_along`: the members that came along with this daemon through all views since the last complete one. All
  /// outlive this one's steps.
  TableRebuild(GroupState& state, GroupViews& views, const TransitionalSignals& signals, Flushes& flushes,
               MemberSet came_along)
      : state_(state), views_(views), signals_(signals), flushes_(flushes), came_along_(std::move(came_along)) {}
  TableRebuild(const TableRebuild&) = delete;
  TableRebuild& operator=(const TableRebuild&) = delete;

  /// The state's view is the new one, and its table is being carried over (GroupTable::carry_over).
  void start(Time now);

  // What the members say. Both return whether the table is complete behind the steps that they have added.

  bool take(Time now, MemberIndex origin, const TableState& said);
  bool take(Time now, const Delivery& message, const Announce& said);

  /// When it is done: what it knows groups by, of which there may be too many to be let go of at once.
  std::vector<std::set<std::string, std::less<>>> take_names();

  const MemberSet& came_along() const { return came_along_; }
  /// The members of `next`, which comes before this one is complete, that came along through both: who did not come
  /// along into this one has delivered other messages since, even if all are in the next one. `came_along` is of
  /// `next`.
  MemberSet along_into(const View& next, const MemberSet& came_along) const;

 private:
  /// Takes out of the table who has not come along.
  void carry_over(Time now);
  void say_state(Time now);
  /// Whether a view is told anyhow: somebody whom the group's local members know is gone, or has not come along.
  bool is_missed(const std::string& group) const;
  void announce(Time now);
  /// Adds at most `units_max` of groups and members to the part, from member `next` on, which is 0 again behind the
  /// last.
  std::size_t announce(const Group& group, std::size_t& next, std::size_t units_max, Announce& part) const;
  /// Says, in its time, that all members here have been announced.
  void conclude(Time now);
  void build_table(Time now);
  void add_announced(MemberIndex daemon, const Delivery& part);
  void add_announced(MemberIndex daemon, const Announce::Group& group);
  /// Whether the daemon's members of a synchronous group come from another side than those that are in the table, which
  /// were kept or have been announced.
  bool is_met(MemberIndex daemon, const std::string& group, bool is_kept);
  /// The table has been kept: whatever else there is, its members know already.
  void tell_changed(Time now);
  void tell_all(Time now);
  void tell(const Group& group, const Group* former);
  /// Groups and members in one part of an announcement, at most.
  std::size_t part_max() const;

  GroupState& state_;
  GroupViews& views_;
  const TransitionalSignals& signals_;
  Flushes& flushes_;
  MemberSet came_along_;
  TableExchange exchange_;
  std::set<std::string, std::less<>> signals_to_end_;  // groups in which the view does so, here or elsewhere
  std::set<std::string, std::less<>> signalled_;       // in which somebody got a signal, wherever it comes from
  std::map<std::string, std::size_t> sides_;           // of synchronous groups: where members come from
};

}  // namespace spindled
