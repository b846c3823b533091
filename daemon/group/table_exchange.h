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
/// Everything here follows from what is ordered, so that all daemons decide alike.
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
  /// The number that the next new group of that table gets.
  GroupId next_id() const { return std::get<1>(largest().first); }

  // The second round.

  bool has_parts_of(std::size_t members) const { return announced_all_.count() >= members; }
  bool has_announced(MemberIndex origin) const { return announced_all_.contains(origin); }
  /// `is_last`: the daemon has no more.
  void add_part(MemberIndex origin, bool is_last) {
    if (is_last) announced_all_.insert(origin);
  }
  void keep_part(MemberIndex origin, const Delivery& part) { parts_[origin].push_back(part); }
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
};

}  // namespace spindled
