#include "daemon/group/group_table.h"

#include <algorithm>

#include "libclient/protocol/member_list.h"

namespace spindled {

namespace {

void recompute_digest(Group& group) {
  group.digest = 0;
  for (const GroupMember& member : group.members) {
    group.digest = spindle::protocol::extend_digest(group.digest, member.hash());
  }
}

/// A bijection that spreads every bit of its argument (the finalizer of splitmix64: Steele, Lea, Flood, 2014).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
  return value ^ value >> 31U;
}

/// In the digest of a table, of a member without a view.
constexpr std::uint64_t kNewcomer = std::uint64_t{1} << 63U;

}  // namespace

const Group* GroupTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &*found;
}

Group* GroupTable::find_mutable(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &changeable(found);
}

const Group* GroupTable::find(GroupId id) const { return by_id_.find(id); }

std::span<const GroupMember> Group::members_of(MemberIndex daemon) const {
  const auto begin = std::partition_point(members.begin(), members.end(),
                                          [&](const GroupMember& member) { return member.daemon() < daemon; });
  const auto end =
      std::partition_point(begin, members.end(), [&](const GroupMember& member) { return member.daemon() == daemon; });
  return {begin, end};
}

std::vector<GroupId> GroupTable::groups_of(MemberIndex daemon, SessionId session) const {
  const auto found = by_session_.find({daemon, session});
  return found == by_session_.end() ? std::vector<GroupId>() : found->second.groups.ids();
}

bool GroupTable::is_member(const Group& group, MemberIndex daemon, SessionId session) const {
  const auto found = by_session_.find({daemon, session});
  return found != by_session_.end() && found->second.groups.contains(group.id);
}

GroupTable::Place GroupTable::add(Place before, std::string_view name, GroupId id) {
  Group group;
  group.id = id != 0 && by_id_.find(id) == nullptr ? id : next_id_;
  group.name = name;
  next_id_ = std::max(next_id_, group.id + 1);
  const Place added = by_name_.insert(before, std::move(group));
  by_id_.insert(added->id, changeable(added));
  return added;
}

bool GroupTable::subscribe(const std::string& name, MemberIndex daemon, std::uint64_t position) {
  Group* group = find_mutable(name);
  if (group == nullptr) {
    group = &changeable(add(by_name_.lower_bound(name), name));
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
  if (!group->members_of(daemon).empty()) return false;
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
  pending_.erase(group.id);
  announced_.reset();
  by_name_.erase(by_name_.find(std::string_view(group.name)));
}

std::string_view GroupTable::name_of(GroupId id) const {
  if (const Group* group = find(id)) return group->name;
  const auto former = former_names_.find(id);
  return former == former_names_.end() ? std::string_view() : former->second;
}

bool GroupTable::join(const std::string& name, const NewMember& member, bool synchronous) {
  Group* group = find_mutable(name);
  if (group == nullptr || !group->subscribers.contains(member.daemon)) return false;
  if (group->members.empty() && group->is_synchronous() != synchronous) {
    make_ordinary(*group);
    if (synchronous) group->synchrony = std::make_unique<Synchrony>();
  }
  return group->is_synchronous() == synchronous && add_member(*group, member);
}

bool GroupTable::add_member(Group& group, const NewMember& member) {
  MemberSession& session = by_session_[{member.daemon, member.session}];
  if (!session.groups.insert(group.id)) return false;
  if (session.name.empty()) {
    session.daemon = member.daemon;
    session.session = member.session;
    session.name = member.name;
    session.hash = spindle::protocol::name_hash(member.name);
  }
  // By daemon, as the table would be built from announcements: a new view of the daemons leaves the order as it is.
  const auto place =
      std::upper_bound(group.members.begin(), group.members.end(), member.daemon,
                       [](MemberIndex daemon, const GroupMember& each) { return daemon < each.daemon(); });
  if (group.synchrony != nullptr && member.is_newcomer) group.synchrony->newcomers.insert(&session);
  const bool is_last = place == group.members.end();
  group.digest = spindle::protocol::extend_digest(group.digest, session.hash);
  group.members.emplace(place, session);
  if (!is_last) recompute_digest(group);
  return true;
}

/// The first group whose name is not before this one. Names are announced in their order, mostly: it is sought behind
/// the last one first.
GroupTable::Place GroupTable::place_for(std::string_view name) const {
  if (announced_) {
    Place place = *announced_;
    if (place->name < name) ++place;
    const bool is_behind = place == *announced_ ? place->name == name : place == by_name_.end() || place->name >= name;
    if (is_behind) return place;
  }
  return by_name_.lower_bound(name);
}

void GroupTable::announce(std::string_view name, GroupId id, MemberIndex daemon, std::span<const NewMember> members,
                          bool synchronous) {
  Place place = place_for(name);
  const bool is_new = place == by_name_.end() || place->name != name;
  if (is_new) place = add(place, name, id);
  announced_ = place;
  Group& group = changeable(place);
  if (is_new && synchronous) group.synchrony = std::make_unique<Synchrony>();
  if (!synchronous) make_ordinary(group);
  group.subscribers.insert(daemon);
  for (const NewMember& member : members) add_member(group, member);
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
  lost_.clear();
  decltype(by_session_) by_session;
  while (!by_session_.empty()) {
    auto node = by_session_.extract(by_session_.begin());
    const std::optional<MemberIndex> daemon = to[node.key().first];
    node.mapped().is_lost = !daemon;
    if (!daemon) {
      lost_.push_back(std::move(node));
      continue;
    }
    node.key().first = node.mapped().daemon = *daemon;
    by_session.insert(by_session.end(), std::move(node));
  }
  by_session_ = std::move(by_session);
}

bool GroupTable::is_losing(const Group& group) {
  return std::any_of(group.members.begin(), group.members.end(),
                     [](const GroupMember& member) { return member.is_lost(); });
}

GroupTable::Place GroupTable::carry_over(Place at) {
  Group& group = changeable(at++);
  if (group.synchrony != nullptr) {
    group.synchrony->restart();
    for (const GroupMember& member : group.members) {
      if (member.is_lost()) group.synchrony->newcomers.erase(&member.of_session());
    }
  }
  if (std::erase_if(group.members, [](const GroupMember& member) { return member.is_lost(); }) > 0) {
    recompute_digest(group);
    if (group.synchrony != nullptr) pend(group, spindle::ViewCause::network);
  }
  group.since = 0;
  group.subscribers = MemberSet();
  std::uint64_t digest = group.digest;
  if (group.synchrony != nullptr) digest = mix(digest ^ (group.is_pending() ? 2U : 1U));
  for (const GroupMember& member : group.members) {
    group.subscribers.insert(member.daemon());
    digest = mix(digest ^ member.session() ^ (group.has_view(member) ? 0 : kNewcomer));
  }
  if (group.members.empty()) {
    remove(group);
    former_names_.clear();
  } else {
    digest_ += mix(mix(digest ^ group.id) ^ spindle::protocol::name_hash(group.name));
  }
  if (at == by_name_.end()) lost_.clear();
  return at;
}

void GroupTable::discard_first() {
  announced_.reset();
  const Place first = by_name_.begin();
  by_id_.erase(first->id);
  pending_.erase(first->id);
  by_name_.erase(first);
}

bool GroupTable::leave(GroupId id, MemberIndex daemon, SessionId session) {
  Group* group = by_id_.find(id);
  if (group == nullptr) return false;
  const std::size_t removed = std::erase_if(group->members, [&](const GroupMember& member) {
    return member.daemon() == daemon && member.session() == session;
  });
  if (removed == 0) return false;
  recompute_digest(*group);
  const auto of_session = by_session_.find({daemon, session});
  if (group->synchrony != nullptr && group->synchrony->newcomers.erase(&of_session->second) == 0) {
    group->synchrony->left.push_back(of_session->second.name);
  }
  of_session->second.groups.erase(id);
  if (of_session->second.groups.empty()) by_session_.erase(of_session);
  return true;
}

// --- Synchronous groups ---

void GroupTable::make_ordinary(Group& group) {
  group.synchrony.reset();
  pending_.erase(group.id);
}

void GroupTable::pend(const Group& group, spindle::ViewCause cause) {
  group.synchrony->pend(cause);
  pending_.insert(group.id);
  note_change(place_of_change(group.name));
}

bool GroupTable::flush(const Group& group, MemberIndex daemon, std::uint64_t round) {
  Synchrony& synchrony = *group.synchrony;
  if (!synchrony.is_pending() || synchrony.round != round || synchrony.flushed.contains(daemon)) return false;
  synchrony.flushed.insert(daemon);
  return true;
}

std::vector<MemberIndex> GroupTable::flushing(const Group& group) {
  std::vector<MemberIndex> daemons;
  for (const GroupMember& member : group.members) {
    const bool is_flushing = group.has_view(member) && !group.synchrony->flushed.contains(member.daemon());
    if (is_flushing && (daemons.empty() || daemons.back() != member.daemon())) daemons.push_back(member.daemon());
  }
  return daemons;
}

bool GroupTable::is_due(const Group& group) {
  return group.is_pending() && std::all_of(group.members.begin(), group.members.end(), [&](const GroupMember& member) {
           return group.synchrony->flushed.contains(member.daemon()) || !group.has_view(member);
         });
}

void GroupTable::stand(const Group& group, std::uint64_t position) {
  group.synchrony->stand(position);
  pending_.erase(group.id);
  note_change(place_of_change(group.name));
  if (position != 0) unknown_.push_back({position, static_cast<std::uint16_t>(place_of_change(group.name))});
}

}  // namespace spindled
