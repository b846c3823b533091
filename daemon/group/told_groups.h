// What local clients were told of their groups when changes ceased to be told one by one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "daemon/group/group_table.h"
#include "libclient/protocol/member_list.h"

namespace spindled {

/// The members of a group as local ones were told last, and those local ones.
struct ToldGroup {
  spindle::protocol::MemberList members;
  std::set<SessionId> sessions;
  std::set<std::string, std::less<>> left;  // since then: who of them is back has not come along
  LastView last_view;

  /// As the group is; `self` is this daemon. Nobody was told of one without local members.
  static ToldGroup of(const Group& group, MemberIndex self);
};

/// All groups as they were told, at the cost of those that change: as they are in the group table, but for those that
/// changed behind that point, which are kept here. Where the table is built anew, that of before is kept here too.
class ToldGroups {
 public:
  /// Before anything about the members of `group` changes.
  ToldGroup& keep(const Group& group, MemberIndex self) {
    const auto [at, added] = changed_.try_emplace(group.name);
    if (added) at->second = ToldGroup::of(group, self);
    return at->second;
  }
  /// Null where the group has not changed.
  const ToldGroup* changed(std::string_view name) const {
    const auto at = changed_.find(name);
    return at == changed_.end() ? nullptr : &at->second;
  }
  /// The first one that has changed, by name; nothing where none has, or none is left.
  std::optional<std::string> first_changed() const {
    return changed_.empty() ? std::nullopt : std::optional(changed_.begin()->first);
  }
  /// The group has been told since.
  void forget(const std::string& name) { changed_.erase(name); }

  /// The table as it was, where another one is being built.
  void keep(GroupTable table) { table_.emplace(std::move(table)); }
  const GroupTable* table() const { return table_ ? &*table_ : nullptr; }
  GroupTable take_table() { return *std::exchange(table_, std::nullopt); }

  /// The new table is told in the order of names: `next` comes next, or none any more.
  void tell_next(const Group* next) {
    is_telling_ = true;
    next_ = next;
  }
  /// Whether the group has been told in that order.
  bool has_passed(std::string_view group) const { return is_telling_ && (next_ == nullptr || group < next_->name); }

 private:
  std::map<std::string, ToldGroup, std::less<>> changed_;
  std::optional<GroupTable> table_;
  bool is_telling_ = false;
  const Group* next_ = nullptr;
};

}  // namespace spindled
