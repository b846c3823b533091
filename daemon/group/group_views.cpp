#include "daemon/group/group_views.h"

#include <algorithm>
#include <unordered_set>

namespace spindled {

namespace protocol = spindle::protocol;

protocol::GroupViewFrame GroupViews::head_of(const Group& group, const Change& change) const {
  protocol::GroupViewFrame view;
  view.group = group.name;
  view.id = id();
  view.cause = change.cause;
  view.member_count = static_cast<std::uint32_t>(group.members.size());
  view.digest = group.digest;
  view.synchronous = group.is_synchronous();
  view.joined = change.joined;
  view.left = change.left;
  view.apart = change.apart;
  return view;
}

void GroupViews::deliver_full(const Group& group, const Change& change, std::span<const SessionId> to) {
  if (to.empty()) return;
  state_.context.turn.count(group.members.size());
  protocol::GroupViewFrame view = head_of(group, change);
  view.members.reserve(group.members.size());
  for (const GroupMember& member : group.members) view.members.push_back(member.name());
  state_.clients->deliver_view(to, view);
}

void GroupViews::deliver_change(const Group& group, const Change& change, std::span<const SessionId> to) {
  if (to.empty()) return;
  protocol::GroupViewFrame view = head_of(group, change);
  view.form = spindle::ViewForm::change;
  state_.clients->deliver_view(to, view);
}

void GroupViews::tell(const Group& group, const Change& change, std::span<const SessionId> told,
                      std::span<const SessionId> first) {
  if (told.empty() && first.empty()) return;
  state_.context.turn.count(told.size() + first.size());
  note_told(group, change.cause);
  if (is_large(group)) {
    deliver_change(group, change, told);
    deliver_full(group, change, first);
  } else {
    deliver_full(group, change, state_.local_members(group));
  }
}

void GroupViews::tell_join(const Group& group, std::string_view joined, std::optional<SessionId> local) {
  if (state_.told) return;
  // Whoever joins comes last.
  const std::vector<SessionId> local_ones = state_.local_members(group);
  const std::span<const SessionId> all(local_ones);
  const std::size_t told = all.size() - (local ? 1 : 0);
  tell(group, {Cause::join, {joined}, {}, {}}, all.first(told), all.subspan(told));
}

void GroupViews::tell_removal(const Group& group, Cause cause, std::string_view left) {
  if (!state_.told) tell(group, {cause, {}, {left}, {}}, state_.local_members(group), {});
}

void GroupViews::tell_farewell(const Group& group, SessionId session, std::string_view name) {
  // The one who left is told so, and not who is in the group any more.
  protocol::GroupViewFrame farewell;
  farewell.group = group.name;
  farewell.id = id();
  farewell.cause = Cause::leave;
  farewell.form = spindle::ViewForm::farewell;
  farewell.synchronous = group.is_synchronous();
  farewell.left = {name};
  state_.clients->deliver_view(std::span(&session, 1), farewell);
}

bool GroupViews::is_as_before(const Group& group, const Group& before, const MemberSet& came_along) const {
  const MemberIndex self = state_.view.self;
  const auto is_same = [&](const GroupMember& now, const GroupMember& then) {
    return now.hash() == then.hash() && now.name() == then.name() && came_along.contains(now.daemon()) &&
           (now.daemon() != self || now.session() == then.session());
  };
  return std::equal(group.members.begin(), group.members.end(), before.members.begin(), before.members.end(), is_same);
}

GroupViews::Change GroupViews::network_change(const Group& group, const ToldGroup& before,
                                              const MemberSet& came_along) const {
  const std::vector<std::string>& old_list = before.members.names();
  const std::unordered_set<std::string_view> old_names(old_list.begin(), old_list.end());
  std::unordered_set<std::string_view> names;
  Change change{Cause::network, {}, {}, {}};
  for (const GroupMember& member : group.members) {
    names.insert(member.name());
    if (!old_names.contains(member.name())) {
      change.joined.push_back(member.name());
    } else if (!came_along.contains(member.daemon()) || before.left.contains(member.name())) {
      change.apart.push_back(member.name());
    }
  }
  for (const std::string& name : old_list) {
    if (!names.contains(name)) change.left.push_back(name);
  }
  return change;
}

void GroupViews::tell_network_change(const Group& group, const Group* former, const MemberSet& came_along,
                                     bool is_due) {
  const ToldGroup* changed = state_.told->changed(group.name);
  if (changed == nullptr && former != nullptr && !is_due && is_as_before(group, *former, came_along)) {
    return state_.table.set_last_view(group, former->last_view);
  }
  const ToldGroup before = changed != nullptr  ? *changed
                           : former != nullptr ? ToldGroup::of(*former, state_.view.self)
                                               : ToldGroup();
  tell_network_view(group, before, came_along, is_due);
}

void GroupViews::tell_network_view(const Group& group, const ToldGroup& before, const MemberSet& came_along,
                                   bool is_due) {
  const Change change = network_change(group, before, came_along);
  state_.table.set_last_view(group, before.last_view);
  tell_newcomers(group, change, before);
  // Where nothing has changed somebody may, under a name that was there, be a member for the first time.
  if (!is_due && change.joined.empty() && change.left.empty() && change.apart.empty()) return;
  std::vector<SessionId> told;
  for (const SessionId session : state_.local_members(group)) {
    if (before.sessions.contains(session)) told.push_back(session);
  }
  if (told.empty()) return;
  state_.context.turn.count(told.size());
  note_told(group, change.cause);
  // A client applies the change to its list by the rule of MemberList. Where that does not give the list that all agree
  // on, as after somebody has left and joined again meanwhile, a change would not do.
  protocol::MemberList list = before.members;
  const bool applies = list.apply(change.joined, change.left) && list.digest() == group.digest;
  if (applies && is_large(group)) return deliver_change(group, change, told);
  deliver_full(group, change, told);
}

void GroupViews::tell_newcomers(const Group& group, const Change& change, const ToldGroup& before) {
  std::vector<SessionId> newcomers;
  for (const SessionId session : state_.local_members(group)) {
    if (!before.sessions.contains(session)) newcomers.push_back(session);
  }
  if (newcomers.empty()) return;
  state_.context.turn.count(newcomers.size() + group.members.size());
  note_told(group, change.cause);
  // Those who are back are for the others apart, and not new.
  const std::unordered_set<SessionId> here(newcomers.begin(), newcomers.end());
  const std::unordered_set<std::string_view> joined(change.joined.begin(), change.joined.end());
  Change own{change.cause, {}, {}, {}};
  for (const GroupMember& member : group.members) {
    const bool is_new =
        joined.contains(member.name()) || (member.is_of(state_.view.self) && here.contains(member.session()));
    (is_new ? own.joined : own.apart).push_back(member.name());
  }
  deliver_full(group, own, newcomers);
}

bool GroupViews::is_told_later(std::string_view group) const {
  if (!state_.told) return false;
  if (state_.told->table() == nullptr) return state_.told->changed(group) != nullptr;
  return !state_.told->has_passed(group);
}

std::optional<Errc> GroupViews::answer(SessionId session, const std::string& name) {
  protocol::GroupViewFrame view;
  view.group = name;
  view.form = spindle::ViewForm::answer;
  const Group* group = state_.table.find(name);
  LastView last;
  ToldGroup told;
  const auto pending = state_.pending_views.find(name);
  if (pending != state_.pending_views.end() || is_told_later(name)) {
    const Group* former = state_.kept().find(name);
    if (pending != state_.pending_views.end()) {
      told = pending->second.told;
    } else if (const ToldGroup* changed = state_.told->changed(name)) {
      told = *changed;
    } else if (former != nullptr) {
      told = ToldGroup::of(*former, state_.view.self);
    }
    if (!told.sessions.contains(session)) return Errc::not_a_member;
    const std::vector<std::string>& members = told.members.names();
    view.members.assign(members.begin(), members.end());
    view.digest = told.members.digest();
    last = told.last_view;
  } else if (group != nullptr && !group->is_pending() && state_.table.is_member(*group, state_.view.self, session)) {
    for (const GroupMember& member : group->members) view.members.push_back(member.name());
    view.digest = group->digest;
    last = group->last_view;
  } else {
    return Errc::not_a_member;
  }
  state_.context.turn.count(view.members.size());
  view.synchronous = group != nullptr && group->is_synchronous();
  view.id = {last.view()->number, last.view()->coordinator, last.view()->incarnation, last.position()};
  view.cause = last.cause();
  state_.clients->deliver_view(std::span(&session, 1), view);
  return std::nullopt;
}

}  // namespace spindled
