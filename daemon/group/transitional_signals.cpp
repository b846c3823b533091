#include "daemon/group/transitional_signals.h"

#include <algorithm>

namespace spindled {

void TransitionalSignals::end(bool was_told) {
  together_ = MemberSet();
  if (was_told) owed_ = std::move(signalled_);
  signalled_.clear();
}

void TransitionalSignals::signal_split(Time now) {
  state_.steps.add(now, [this, at = std::optional<GroupTable::Place>()](Time) mutable {
    const GroupTable& table = state_.table;
    if (!at) at = table.begin();
    if (*at == table.end()) return true;
    const Group& group = *(*at)++;
    state_.context.turn.count(1 + group.members.size());
    if (is_split(group)) signal(group);
    return *at == table.end();
  });
}

bool TransitionalSignals::is_split(const Group& group) const {
  // Of a view that is pending its members have heard nothing.
  const auto pending = state_.pending_views.find(group.name);
  if (pending != state_.pending_views.end()) return !pending->second.together.is_subset_of(together_);
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const GroupMember& member) { return !together_.contains(member.daemon()); });
}

void TransitionalSignals::signal(const Group& group, std::span<const SessionId> to) {
  if (to.empty()) return;
  state_.context.turn.count(to.size());
  state_.clients->deliver_transitional(to, group.name);
  signalled_.insert(group.name);
}

/// A first member elsewhere splits the group; who joins a split group has no signal yet.
void TransitionalSignals::signal_join(const Group& group, MemberIndex daemon, SessionId session) {
  if (!signalled_.contains(group.name)) {
    if (is_split(group)) signal(group);
  } else if (daemon == state_.view.self) {
    signal(group, std::span(&session, 1));
  }
}

void TransitionalSignals::signal_view(const Group& group, bool is_of_network, std::span<const SessionId> newcomers) {
  if (is_of_network) signalled_.erase(group.name);
  if (signalled_.contains(group.name)) {
    signal(group, newcomers);
  } else if (is_split(group)) {
    signal(group);
  }
}

void TransitionalSignals::signal_group(const Group& group) {
  if (!signalled_.contains(group.name)) signal(group);
}

void TransitionalSignals::signal(const Group& group) {
  std::vector<SessionId> members;
  state_.add_local_members(group, members);
  signal(group, members);
}

void TransitionalSignals::signal_parted(Time now, const MemberSet& came_along) {
  state_.steps.add(now, [this, came_along, at = state_.kept().begin()](Time) mutable {
    const GroupTable& kept = state_.kept();
    if (at == kept.end()) return true;
    const Group& group = *at++;
    state_.context.turn.count(1);
    if (state_.has_local_members(group) && !owed_.contains(group.name)) signal_parted(group, came_along);
    return at == kept.end();
  });
}

void TransitionalSignals::signal_parted(const Group& group, const MemberSet& came_along) {
  const auto pending = state_.pending_views.find(group.name);
  const bool is_pending = pending != state_.pending_views.end();
  if (is_pending && pending->second.together.is_subset_of(together_)) return;
  const auto is_lost = [&](std::string_view member) {
    if (is_pending) return true;
    const auto index = state_.view.index_of(spindle::parse_private_name(member)->daemon);
    return index && came_along.contains(*index) && !together_.contains(*index);
  };
  const ToldGroup told = as_told(group);
  const std::vector<std::string>& members = told.members.names();
  state_.context.turn.count(members.size() + told.sessions.size());
  if (told.sessions.empty() || std::none_of(members.begin(), members.end(), is_lost)) return;
  const std::vector<SessionId> sessions(told.sessions.begin(), told.sessions.end());
  state_.clients->deliver_transitional(sessions, group.name);
  owed_.insert(group.name);
}

ToldGroup TransitionalSignals::as_told(const Group& group) const {
  const auto pending = state_.pending_views.find(group.name);
  if (pending != state_.pending_views.end()) return pending->second.told;
  const ToldGroup* changed = state_.told->changed(group.name);
  return changed != nullptr ? *changed : ToldGroup::of(group, state_.view.self);
}

}  // namespace spindled
