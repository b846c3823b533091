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

/// A bijection that spreads every bit of its argument (the finalizer of splitmix64: Steele, Lea, Flood, 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
  return value ^ value >> 31U;
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
  return found == by_session_.end() ? std::vector<GroupId>() : found->second.ids();
}

bool GroupTable::is_member(const Group& group, MemberIndex daemon, SessionId session) const {
  const auto found = by_session_.find({daemon, session});
  return found != by_session_.end() && found->second.contains(group.id);
}

GroupTable::Place GroupTable::add(Place before, std::string_view name, GroupId id) {
  auto group = std::make_unique<Group>();
  const bool is_free = id != 0 && !by_id_.contains(id);
  group->id = is_free ? id : next_id_;
  next_id_ = std::max(next_id_, group->id + 1);
  group->name = name;
  by_id_[group->id] = group.get();
  return by_name_.insert(before, std::move(group));
}

bool GroupTable::subscribe(const std::string& name, MemberIndex daemon, std::uint64_t position) {
  Group* group = find_mutable(name);
  if (group == nullptr) {
    group = add(by_name_.lower_bound(name), name)->get();
    group->since = position;
    unknown_.push_back({position, static_cast<std::uint16_t>(place_of_change(name))});
  }
  if (group->subscribers.contains(daemon)) return false;
  group->subscribers.insert(daemon);
  note_change(place_of_change(name));
  return true;
}

void GroupTable::known_to_all(std::uint64_t position) {
  while (!unknown_.empty() && unknown_.front().first <= position) note_change(unknown_.pop_front().second);
  known_to_all_ = position;
}

std::size_t GroupTable::place_of_change(std::string_view name) {
  return spindle::protocol::name_hash(name) % kChangePlaces;
}

bool GroupTable::has_changed_since(std::uint64_t version, const std::vector<std::string>& groups) const {
  return all_changed_ > version || std::any_of(groups.begin(), groups.end(), [&](const std::string& name) {
           return changed_[place_of_change(name)] > version;
         });
}

bool GroupTable::unsubscribe(const std::string& name, MemberIndex daemon) {
  Group* group = find_mutable(name);
  if (group == nullptr || !group->subscribers.contains(daemon)) return false;
  const bool has_members = std::any_of(group->members.begin(), group->members.end(),
                                       [&](const GroupMember& member) { return member.daemon == daemon; });
  if (has_members) return false;
  group->subscribers.erase(daemon);
  note_change(place_of_change(name));
  if (group->subscribers.empty()) remove(*group);
  return true;
}

void GroupTable::remove(Group& group) {
  // Ids grow, so the smallest is the oldest but for groups that lived long: good enough for a bound.
  if (former_names_.size() == kFormerNamesMax) former_names_.erase(former_names_.begin());
  former_names_[group.id] = group.name;
  by_id_.erase(group.id);
  announced_.reset();
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
  if (!by_session_[{member.daemon, member.session}].insert(group->id)) return false;
  add_member(*group, std::move(member));
  return true;
}

void GroupTable::add_member(Group& group, GroupMember member) {
  if (member.daemon == self_) group.local.push_back(member.session);
  member.hash = spindle::protocol::name_hash(member.name);
  // By daemon, as the table would be built from announcements: a new view of the daemons leaves the order as it is.
  const auto place = std::upper_bound(group.members.begin(), group.members.end(), member.daemon,
                                      [](MemberIndex daemon, const GroupMember& each) { return daemon < each.daemon; });
  const bool is_last = place == group.members.end();
  group.digest = spindle::protocol::extend_digest(group.digest, member.hash);
  group.members.insert(place, std::move(member));
  if (!is_last) recompute_digest(group);
}

/// The first group whose name is not before this one. Names are announced in their order, mostly: it is sought behind
/// the last one first.
GroupTable::Place GroupTable::place_for(std::string_view name) const {
  if (announced_) {
    Place place = *announced_;
    if ((*place)->name < name) ++place;
    const bool is_behind =
        place == *announced_ ? (*place)->name == name : place == by_name_.end() || (*place)->name >= name;
    if (is_behind) return place;
  }
  return by_name_.lower_bound(name);
}

void GroupTable::announce(std::string_view name, GroupId id, MemberIndex daemon, std::vector<GroupMember> members) {
  Place place = place_for(name);
  if (place == by_name_.end() || (*place)->name != name) place = add(place, name, id);
  announced_ = place;
  Group& group = **place;
  group.subscribers.insert(daemon);
  for (GroupMember& member : members) {
    if (by_session_[{daemon, member.session}].insert(group.id)) add_member(group, std::move(member));
  }
  renew();
}

void GroupTable::carry_over(MemberIndex self, const Renumbering& to, std::uint64_t version) {
  self_ = self;
  version_ = std::max(version_, version);
  renew();
  known_to_all_ = 0;
  unknown_.clear();
  digest_ = 0;
  former_names_.clear();
  announced_.reset();
  std::map<std::pair<MemberIndex, SessionId>, SessionGroups> by_session;
  for (auto& [key, groups] : by_session_) {
    if (to[key.first])
      by_session.emplace_hint(by_session.end(), std::pair(*to[key.first], key.second), std::move(groups));
  }
  by_session_ = std::move(by_session);
}

bool GroupTable::is_losing(const Group& group, const Renumbering& to) {
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const GroupMember& member) { return !to[member.daemon]; });
}

GroupTable::Place GroupTable::carry_over(Place at, const Renumbering& to) {
  Group& group = **at++;
  if (std::erase_if(group.members, [&](const GroupMember& member) { return !to[member.daemon]; }) > 0) {
    recompute_digest(group);
  }
  group.since = 0;
  group.subscribers = MemberSet();
  std::uint64_t digest = group.digest;
  for (GroupMember& member : group.members) {
    member.daemon = *to[member.daemon];
    group.subscribers.insert(member.daemon);
    digest = mix(digest ^ member.session);
  }
  if (group.members.empty()) {
    remove(group);
    former_names_.clear();
  } else {
    digest_ += mix(mix(digest ^ group.id) ^ spindle::protocol::name_hash(group.name));
  }
  return at;
}

void GroupTable::discard_first() {
  announced_.reset();
  const Place first = by_name_.begin();
  by_id_.erase((*first)->id);
  by_name_.erase(first);
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
  of_session->second.erase(id);
  if (of_session->second.empty()) by_session_.erase(of_session);
  return true;
}

}  // namespace spindled
