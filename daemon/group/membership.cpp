// Groups: the operations that change who is a member, and what happens to the table around a view change.
#include <algorithm>

#include "daemon/base/broken.h"
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

void Groups::apply(Time now, const Delivery& message, const Subscribe& operation) {
  table_.subscribe(operation.group, message.origin, message.position);
  order_->report_progress();
  if (message.origin != view_.self) return;
  subscriptions_.subscribed(operation.group, message.position);
  if (broken(Broken::join_at_subscription)) horizon_reached(now, message.position);
}

void Groups::apply(Time now, const Delivery& message, const Unsubscribe& operation) {
  table_.unsubscribe(operation.group, message.origin);
  if (message.origin == view_.self) take(now, subscriptions_.unsubscribed(operation.group), operation.group);
}

void Groups::apply(Time now, const Delivery& message, const JoinGroup& operation) {
  const std::string name = private_name(message.origin, operation.client);
  const bool added = table_.join(operation.group, {message.origin, operation.session, name});
  const bool is_local = message.origin == view_.self;
  if (is_local) {
    subscriptions_.joined(operation.group, local_members_of(operation.group));
    request_done(now, operation.session);
  }
  if (!added) return;
  ++changes_;
  const Group& group = *table_.find(operation.group);
  if (told_ && is_local) untold_.emplace(group.id, operation.session);
  tell_join(group, name, is_local ? std::optional(operation.session) : std::nullopt);
  if (!told_ && !together_.empty()) signal_join(group, message.origin, operation.session);
}

void Groups::apply(Time now, const Delivery& message, const LeaveGroup& operation) {
  const Group* group = table_.find(operation.group);
  if (group != nullptr) remove_member(now, message.origin, operation.session, group->id, Cause::leave);
  if (message.origin == view_.self) request_done(now, operation.session);
}

void Groups::apply(Time now, const Delivery& message, const Disconnect& operation) {
  for (const GroupId group : table_.groups_of(message.origin, operation.session)) {
    remove_member(now, message.origin, operation.session, group, Cause::disconnect);
  }
}

void Groups::apply(Time now, const Delivery& message, Announce& operation) {
  if (ready_) return;
  announced_[message.origin] = std::move(operation);
  const std::size_t wanted = broken(Broken::announcement_missed) && view_.size() > 1 ? view_.size() - 1 : view_.size();
  if (announced_.size() == wanted) build_table(now);
}

void Groups::remove_member(Time now, MemberIndex daemon, SessionId session, GroupId id, Cause cause) {
  const Group& group = *table_.find(id);
  const auto member = std::find_if(group.members.begin(), group.members.end(), [&](const GroupMember& candidate) {
    return candidate.daemon == daemon && candidate.session == session;
  });
  if (member == group.members.end()) return;
  const std::string name = member->name;
  table_.leave(id, daemon, session);
  ++changes_;
  tell_removal(group, cause, name);
  if (told_) {
    if (const auto told = told_->find(group.name); told != told_->end()) {
      told->second.left.insert(name);
      // If it joins again before the rest is told, it has to be told everything.
      if (daemon == view_.self) told->second.sessions.erase(session);
    }
  }
  if (daemon != view_.self) return;
  if (cause == Cause::leave) tell_farewell(group, session, name);
  take(now, subscriptions_.left(group.name, group.local.size()), group.name);
}

// --- Around a view change ---

void Groups::transitional(Time, const MemberSet& transitional) {
  together_ = transitional;
  signal_split();
}

void Groups::signal_split() {
  table_.for_each([&](const Group& group) {
    if (is_split(group)) signal(group, group.local);
  });
}

/// Not at the signal: a daemon that nothing held up has told its members of changes up to here, before its own signal.
/// Those who move together are told of the same changes.
void Groups::furthest_reached(Time) {
  furthest_reached_ = true;
  remember_told();
}

bool Groups::is_split(const Group& group) const {
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const GroupMember& member) { return !together_.contains(member.daemon); });
}

void Groups::signal(const Group& group, std::span<const SessionId> to) {
  if (to.empty()) return;
  clients_->deliver_transitional(to, group.name);
  signalled_.insert(group.name);
}

/// A join told behind the signal: a first member elsewhere splits the group; who joins a split group has no signal yet.
void Groups::signal_join(const Group& group, MemberIndex daemon, SessionId session) {
  if (!signalled_.contains(group.name)) {
    if (is_split(group)) signal(group, group.local);
  } else if (daemon == view_.self) {
    signal(group, std::span(&session, 1));
  }
}

/// A safe message behind the signal is one that only those who move together are known to have. Where somebody of them
/// is cut off before the next view, it keeps less than the others have delivered by then: a group gets the message
/// without a signal only where nothing can be lost any more, whether the group is split or not.
void Groups::signal_targets() {
  std::vector<SessionId> members;
  for (const Envelope::Target& target : route_.envelope().targets) {
    const Group* group = find(target);
    if (group == nullptr || signalled_.contains(group->name)) continue;
    members.clear();
    add_local_members(*group, members);
    signal(*group, members);
  }
}

void Groups::remember_told() {
  if (told_) return;
  told_.emplace();
  table_.for_each([&](const Group& group) {
    if (group.local.empty()) return;
    Told& told = (*told_)[group.name];
    for (const GroupMember& member : group.members) told.members.add(member.name);
    told.sessions.insert(group.local.begin(), group.local.end());
    told.last_view = group.last_view;
  });
}

void Groups::view_installed(Time now, const View& view, const MemberSet& came_along) {
  remember_told();
  if (!ready_ && !together_.empty() && !broken(Broken::short_view_unsignalled)) signal_parted();
  const Announce announce = ready_ ? local_members() : std::exchange(unfinished_, {});
  subscriptions_.restart();
  came_along_ = along_since_told(view, came_along);
  together_ = MemberSet();
  furthest_reached_ = false;
  signalled_.clear();
  view_ = view;
  shared_view_id_ = std::make_shared<const ViewId>(view.id);
  table_ = GroupTable(view.self, table_.version());
  route_.forget();
  unfinished_ = announce;
  announced_.clear();
  early_.clear();
  untold_.clear();
  if (broken(Broken::deferred_lost)) departed_.clear();
  ready_ = false;
  originate(now, announce);
}

/// The view that ends was too short for its members to be told: who is lost with it was lost from the last view told.
void Groups::signal_parted() {
  const auto is_lost = [this](std::string_view member) {
    const auto index = view_.index_of(protocol::parse_private_name(member)->daemon);
    return index && came_along_.contains(*index) && !together_.contains(*index);
  };
  for (Announce::Group& group : unfinished_.groups) {
    const auto told = told_->find(group.name);
    if (group.signalled || told == told_->end()) continue;
    const std::vector<std::string>& members = told->second.members.names();
    if (std::none_of(members.begin(), members.end(), is_lost)) continue;
    const std::vector<SessionId> sessions(told->second.sessions.begin(), told->second.sessions.end());
    clients_->deliver_transitional(sessions, group.name);
    group.signalled = true;
  }
}

MemberSet Groups::along_since_told(const View& next, const MemberSet& came_along) const {
  if (ready_ || view_.members.empty() || broken(Broken::short_view_forgotten)) return came_along;
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
    mine.signalled = signalled_.contains(group.name);
    for (const GroupMember& member : group.members) {
      if (member.daemon != view_.self) continue;
      mine.members.push_back({member.session, std::string(protocol::parse_private_name(member.name)->client)});
    }
  });
  return announce;
}

void Groups::build_table(Time now) {
  // The signal may have come to some of those who move together only, and the one for whom it came be gone: the view
  // that ends it all of them get.
  std::set<std::string, std::less<>> signalled;
  // Every daemon goes through the same announcements in the same order, so that ids and members agree everywhere.
  for (const auto& [daemon, announce] : announced_) {
    for (const Announce::Group& group : announce.groups) {
      table_.subscribe(group.name, daemon, 0);
      if (group.signalled && came_along_.contains(daemon)) signalled.insert(group.name);
      for (const Announce::Member& member : group.members) {
        table_.join(group.name, {daemon, member.session, private_name(daemon, member.client)});
      }
    }
  }
  announced_.clear();
  ready_ = true;
  changes_ = 1;
  const std::map<std::string, Told> told = std::move(*std::exchange(told_, std::nullopt));
  table_.for_each([&](const Group& group) {
    const auto before = told.find(group.name);
    if (group.local.empty()) return;
    tell_network_change(group, before == told.end() ? Told() : before->second, signalled.contains(group.name));
  });
  // A view that ends before its table is complete can be completed by what closing it delivers. Its groups were not
  // known when the signal came, and behind the point that others had reached nobody tells changes one by one.
  if (!together_.empty() && !broken(Broken::late_table_unsignalled)) signal_split();
  if (furthest_reached_ && !broken(Broken::told_behind_furthest)) remember_told();
  for (const Delivery& message : std::exchange(early_, {})) deliver_client_message(message);
  if (order_->is_open()) resume_requests(now);
}

}  // namespace spindled
