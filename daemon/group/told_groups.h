// What local clients were told of their groups when changes ceased to be told one by one.
#pragma once

#include <map>
#include <set>
#include <string>

#include "daemon/group/group_table.h"
#include "libclient/protocol/member_list.h"

namespace spindled {

/// The members of a group as local ones were told last, and those local ones.
struct ToldGroup {
  spindle::protocol::MemberList members;
  std::set<SessionId> sessions;
  std::set<std::string, std::less<>> left;  // since then: who of them is back has not come along
  LastView last_view;

  /// As the group is: nobody was told of one without local members.
  static ToldGroup of(const Group& group);
};

/// All groups as they were told, at the cost of those that change: the group table as it was, or, until the view ends,
/// as it is, but for groups that changed behind that point, which are kept here.
class ToldGroups {
 public:
  /// Before anything about the members of `group` changes.
  ToldGroup& keep(const Group& group) {
    const auto [at, added] = changed_.try_emplace(group.name);
    if (added) at->second = ToldGroup::of(group);
    return at->second;
  }
  /// Null where the group has not changed.
  const ToldGroup* changed(std::string_view name) const {
    const auto at = changed_.find(name);
    return at == changed_.end() ? nullptr : &at->second;
  }
  /// The table of the view that has ended.
  void keep(GroupTable table) { table_ = std::move(table); }
  const GroupTable& table() const { return table_; }
  GroupTable take_table() { return std::move(table_); }

 private:
  std::map<std::string, ToldGroup, std::less<>> changed_;
  GroupTable table_;
};

}  // namespace spindled
