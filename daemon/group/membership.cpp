// Groups: the operations that change who is a member, and the group views that tell.
#include <algorithm>

#include "daemon/group/groups.h"

namespace spindled {

namespace protocol = spindle::protocol;

std::string Groups::private_name(MemberIndex daemon, std::string_view client) const {
  return protocol::make_private_name(client, view_.members[daemon].name);
}

// --- Operations ---

void Groups::apply(Time now, const Delivery& message) {
  std::vector<std::uint8_t> joined;
  std::optional<GroupOperation> operation = read_operation(message.contiguous(joined));
  if (!operation) {
    log_.error("a malformed group operation of {} was dropped", view_.members[message.origin].name);
    return;
  }
  std::visit([&](auto& known) { apply(now, message, known); }, *operation);
}

void Groups::apply(Time, const Delivery& message, const Subscribe& operation) {
  table_.subscribe(operation.group, message.origin, message.position);
  order_->report_progress();
  if (message.origin == view_.self) subscriptions_.subscribed(operation.group, message.position);
}

void Groups::apply(Time now, const Delivery& message, const Unsubscribe& operation) {
  table_.unsubscribe(operation.group, message.origin);
  if (message.origin == view_.self) take(now, subscriptions_.unsubscribed(operation.group));
}

void Groups::apply(Time, const Delivery& message, const JoinGroup& operation) {
  if (message.origin == view_.self) subscriptions_.joined(operation.group);
  if (!table_.join(operation.group, {message.origin, operation.session, operation.client})) return;
  ++changes_;
  const Group& group = *table_.find(operation.group);
  if (told_ && message.origin == view_.self) untold_.emplace(group.id, operation.session);
  tell_view(group, Cause::join, {private_name(message.origin, operation.client)}, {});
}

void Groups::apply(Time now, const Delivery& message, const LeaveGroup& operation) {
  const Group* group = table_.find(operation.group);
  if (group != nullptr) remove_member(now, message.origin, operation.session, group->id, Cause::leave);
}

void Groups::apply(Time now, const Delivery& message, const Disconnect& operation) {
  for (const GroupId group : table_.groups_of(message.origin, operation.session)) {
    remove_member(now, message.origin, operation.session, group, Cause::disconnect);
  }
}

void Groups::apply(Time now, const Delivery& message, Announce& operation) {
  if (ready_) return;
  announced_[message.origin] = std::move(operation);
  if (announced_.size() == view_.size()) build_table(now);
}

void Groups::remove_member(Time now, MemberIndex daemon, SessionId session, GroupId id, Cause cause) {
  const Group& group = *table_.find(id);
  const auto member = std::find_if(group.members.begin(), group.members.end(), [&](const GroupMember& candidate) {
    return candidate.daemon == daemon && candidate.session == session;
  });
  if (member == group.members.end()) return;
  const std::string name = private_name(daemon, member->client);
  table_.leave(id, daemon, session);
  ++changes_;
  tell_view(group, cause, {name}, {});
  if (daemon != view_.self) return;
  if (cause == Cause::leave) {
    // The one who left is told so, in a view without members: it is not told who is in the group any more.
    protocol::View farewell;
    farewell.group = group.name;
    farewell.id = {view_.id.number, view_.id.coordinator, changes_};
    farewell.cause = Cause::leave;
    farewell.changed = {name};
    clients_->deliver_view(std::span(&session, 1), farewell);
  }
  take(now, subscriptions_.left(group.name, group.local.size()));
}

void Groups::tell_view(const Group& group, Cause cause, const Names& changed, const Names& vs_set) {
  if (group.local.empty() || told_) return;
  Names members;
  members.reserve(group.members.size());
  for (const GroupMember& member : group.members) members.push_back(private_name(member.daemon, member.client));
  protocol::View view;
  view.group = group.name;
  view.id = {view_.id.number, view_.id.coordinator, changes_};
  view.cause = cause;
  view.members.assign(members.begin(), members.end());
  view.vs_set.assign(vs_set.begin(), vs_set.end());
  view.changed.assign(changed.begin(), changed.end());
  clients_->deliver_view(group.local, view);
}

// --- Around a view change ---

void Groups::transitional(Time, const MemberSet& transitional) {
  remember_told();
  table_.for_each([&](const Group& group) {
    const bool split = std::any_of(group.members.begin(), group.members.end(),
                                   [&](const GroupMember& member) { return !transitional.contains(member.daemon); });
    if (split && !group.local.empty()) clients_->deliver_transitional(group.local, group.name);
  });
}

void Groups::remember_told() {
  if (told_) return;
  told_.emplace();
  table_.for_each([&](const Group& group) {
    if (group.local.empty()) return;
    Names& names = (*told_)[group.name];
    for (const GroupMember& member : group.members) names.push_back(private_name(member.daemon, member.client));
  });
}

void Groups::view_installed(Time now, const View& view, const MemberSet& came_along) {
  remember_told();
  const Announce announce = ready_ ? local_members() : std::exchange(unfinished_, {});
  std::vector<std::string> with_members;
  for (const Announce::Group& group : announce.groups) with_members.push_back(group.name);
  subscriptions_.restart(with_members);
  came_along_ = along_since_told(view, came_along);
  view_ = view;
  table_ = GroupTable(view.self, table_.version());
  unfinished_ = announce;
  announced_.clear();
  early_.clear();
  untold_.clear();
  ready_ = false;
  originate(now, announce);
}

MemberSet Groups::along_since_told(const View& next, const MemberSet& came_along) const {
  if (ready_ || view_.members.empty()) return came_along;
  // The view that ends was too short for its members to be told. Who did not come along into it has delivered other
  // messages since, even if all are in the next one.
  MemberSet along;
  came_along.for_each([&](MemberIndex member) {
    const auto before = view_.index_of(next.members[member].name);
    if (before && came_along_.contains(*before)) along.insert(member);
  });
  return along;
}

Announce Groups::local_members() const {
  Announce announce;
  table_.for_each([&](const Group& group) {
    if (group.local.empty()) return;
    Announce::Group& mine = announce.groups.emplace_back();
    mine.name = group.name;
    for (const GroupMember& member : group.members) {
      if (member.daemon == view_.self) mine.members.push_back({member.session, member.client});
    }
  });
  return announce;
}

void Groups::build_table(Time now) {
  // Every daemon goes through the same announcements in the same order, so that ids and members agree everywhere.
  for (const auto& [daemon, announce] : announced_) {
    for (const Announce::Group& group : announce.groups) {
      table_.subscribe(group.name, daemon, 0);
      for (const Announce::Member& member : group.members) {
        table_.join(group.name, {daemon, member.session, member.client});
      }
    }
  }
  announced_.clear();
  ready_ = true;
  changes_ = 1;
  const std::map<std::string, Names> told = std::move(*std::exchange(told_, std::nullopt));
  table_.for_each([&](const Group& group) {
    const auto before = told.find(group.name);
    if (!group.local.empty()) tell_network_change(group, before == told.end() ? Names() : before->second);
  });
  for (const Delivery& message : std::exchange(early_, {})) deliver_client_message(message);
  if (!order_->is_open()) return;
  for (const GroupOperation& operation : std::exchange(deferred_, {})) originate(now, operation);
  take(now, subscriptions_.resume());
}

void Groups::tell_network_change(const Group& group, const Names& before) {
  const std::set<std::string_view> old_names(before.begin(), before.end());
  std::set<std::string_view> gone = old_names;
  Names changed;
  Names vs_set;
  for (const GroupMember& member : group.members) {
    std::string name = private_name(member.daemon, member.client);
    gone.erase(name);
    if (!old_names.contains(name)) changed.push_back(name);
    if (came_along_.contains(member.daemon) && old_names.contains(name)) vs_set.push_back(name);
  }
  changed.insert(changed.end(), gone.begin(), gone.end());
  const bool all_came_along = vs_set.size() == group.members.size();
  if (!changed.empty() || !all_came_along) tell_view(group, Cause::network, changed, vs_set);
}

}  // namespace spindled
