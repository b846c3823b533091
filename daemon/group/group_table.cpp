#include "daemon/group/group_table.h"

#include <algorithm>

#include "libclient/protocol/member_list.h"

namespace spindled {

namespace {

void recompute_digest(Group& group) {
  group.digest = 0;
  for (const GroupMember& member : group.members) {
    group.digest = spindle::protocol::extend_digest(group.digest, member.hash);
  }
}

}  // namespace

const Group* GroupTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->get();
}

Group* GroupTable::find_mutable(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->get();
}

const Group* GroupTable::find(GroupId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<GroupId> GroupTable::groups_of(MemberIndex daemon, SessionId session) const {
  const auto found = by_session_.find({daemon, session});
  return found == by_session_.end() ? std::vector<GroupId>() : found->second;
}

bool GroupTable::is_member(const Group& group, MemberIndex daemon, SessionId session) const {
  const auto found = by_session_.find({daemon, session});
  return found != by_session_.end() && std::binary_search(found->second.begin(), found->second.end(), group.id);
}

bool GroupTable::subscribe(const std::string& name, MemberIndex daemon, std::uint64_t position) {
  Group* group = find_mutable(name);
  if (group == nullptr) {
    auto added = std::make_unique<Group>();
    group = added.get();
    group->id = next_id_++;
    group->since = newest_ = position;
    group->name = name;
    by_id_[group->id] = group;
    by_name_.insert(std::move(added));
  }
  if (group->subscribers.contains(daemon)) return false;
  group->subscribers.insert(daemon);
  ++version_;
  return true;
}

void GroupTable::known_to_all(std::uint64_t position) {
  if (newest_ > known_to_all_) ++version_;
  known_to_all_ = position;
}

bool GroupTable::unsubscribe(const std::string& name, MemberIndex daemon) {
  Group* group = find_mutable(name);
  if (group == nullptr || !group->subscribers.contains(daemon)) return false;
  const bool has_members = std::any_of(group->members.begin(), group->members.end(),
                                       [&](const GroupMember& member) { return member.daemon == daemon; });
  if (has_members) return false;
  group->subscribers.erase(daemon);
  ++version_;
  if (group->subscribers.empty()) remove(*group);
  return true;
}

void GroupTable::remove(Group& group) {
  // Ids grow, so the smallest is the oldest but for groups that lived long: good enough for a bound.
  if (former_names_.size() == kFormerNamesMax) former_names_.erase(former_names_.begin());
  former_names_[group.id] = group.name;
  by_id_.erase(group.id);
  by_name_.erase(by_name_.find(std::string_view(group.name)));
}

std::string_view GroupTable::name_of(GroupId id) const {
  if (const Group* group = find(id)) return group->name;
  const auto former = former_names_.find(id);
  return former == former_names_.end() ? std::string_view() : former->second;
}

bool GroupTable::join(const std::string& name, GroupMember member) {
  Group* group = find_mutable(name);
  if (group == nullptr || !group->subscribers.contains(member.daemon)) return false;
  std::vector<GroupId>& groups = by_session_[{member.daemon, member.session}];
  const auto at = std::lower_bound(groups.begin(), groups.end(), group->id);
  if (at != groups.end() && *at == group->id) return false;
  groups.insert(at, group->id);
  if (member.daemon == self_) group->local.push_back(member.session);
  member.hash = spindle::protocol::name_hash(member.name);
  // By daemon, as the table would be built from announcements: a new view of the daemons leaves the order as it is.
  const auto place = std::upper_bound(group->members.begin(), group->members.end(), member.daemon,
                                      [](MemberIndex daemon, const GroupMember& each) { return daemon < each.daemon; });
  const bool is_last = place == group->members.end();
  group->digest = spindle::protocol::extend_digest(group->digest, member.hash);
  group->members.insert(place, std::move(member));
  if (!is_last) recompute_digest(*group);
  return true;
}

bool GroupTable::leave(GroupId id, MemberIndex daemon, SessionId session) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  Group& group = *found->second;
  const std::size_t removed = std::erase_if(
      group.members, [&](const GroupMember& member) { return member.daemon == daemon && member.session == session; });
  if (removed == 0) return false;
  recompute_digest(group);
  if (daemon == self_) std::erase(group.local, session);
  const auto of_session = by_session_.find({daemon, session});
  std::erase(of_session->second, id);
  if (of_session->second.empty()) by_session_.erase(of_session);
  return true;
}

}  // namespace spindled
