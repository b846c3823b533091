// How the daemons of a new view come to one group table.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/group/operations.h"
#include "daemon/order/message.h"

namespace spindled {

/// Each daemon comes with the table that it had, without the members of daemons that have not come along with it. In a
/// first round all say what theirs is. Where all have the same, as after a crash or a leave, it goes on, and nothing of
/// it travels. Otherwise the largest table is kept, by all who have it; in a second round everybody announces its own
/// members: those of the others are added to the table that is kept, and the others build theirs anew.
///
/// What the keepers announce is for the others alone, each of whom says the last of its own only when it has that: so
/// the table is complete when all of them have said it. This follows from what goes to everybody, so that all daemons
/// decide alike, also where the view ends meanwhile. And no part goes to anybody whom the one before it did not go to:
/// so none is there where one before it was lost (docs/decisions/0006-holes.md).
class TableExchange {
 public:
  /// Where all states are in, `is_same_everywhere` and what follows it have a meaning.
  bool has_states_of(std::size_t members) const { return told_all_.count() >= members; }
  /// Whether the daemon has said all that it has to say in the first round.
  bool has_state_of(MemberIndex origin) const { return told_all_.contains(origin); }
  void add(MemberIndex origin, const TableState& state);

  bool is_same_everywhere() const { return tables_.size() == 1; }
  /// The daemons that have the table that is kept.
  const MemberSet& keepers() const { return largest().second; }
  /// Daemons with the same number have the same table, and those that have members in it have come along together.
  std::size_t side_of(MemberIndex daemon) const;
  /// The number that the next new group of that table gets.
  GroupId next_id() const { return std::get<1>(largest().first); }

  // The second round.

  bool has_announced(MemberIndex origin) const { return announced_all_.contains(origin); }
  /// `is_last`: the daemon has no more.
  void add_part(MemberIndex origin, bool is_last) {
    if (is_last) announced_all_.insert(origin);
  }
  /// It goes into the table.
  void keep_part(MemberIndex origin, const Delivery& part) { parts_[origin].push_back(part); }
  /// This daemon has announced all members that it has, but for the word that these are all.
  void set_announced() { has_announced_ = true; }
  /// Whether it is time for that word; true once, and never at a keeper, who says it at once.
  bool take_conclusion();
  /// Whether all daemons of a view of `members` that do not keep their table have announced all of their members.
  bool is_complete(std::size_t members) const;
  /// What was kept, in the order in which it goes into the table: what the keepers have comes first.
  std::vector<std::pair<MemberIndex, Delivery>> take_parts();

 private:
  /// How many groups, the next id, the digest.
  using Table = std::tuple<std::uint64_t, GroupId, std::uint64_t>;
  using Tables = std::map<Table, MemberSet>;

  const Tables::value_type& largest() const { return *tables_.rbegin(); }

  Tables tables_;  // and who has each
  MemberSet told_all_, announced_all_;
  std::map<MemberIndex, std::vector<Delivery>> parts_;
  bool has_announced_ = false;  // and not said yet that this is all
};

}  // namespace spindled
