// Groups: the group views that tell local members who is in a group.
#include <algorithm>
#include <unordered_set>

#include "daemon/group/groups.h"

namespace spindled {

namespace protocol = spindle::protocol;

protocol::GroupViewFrame Groups::head_of(const Group& group, const Change& change) const {
  protocol::GroupViewFrame view;
  view.group = group.name;
  view.id = view_id();
  view.cause = change.cause;
  view.member_count = static_cast<std::uint32_t>(group.members.size());
  view.digest = group.digest;
  view.joined = change.joined;
  view.left = change.left;
  view.apart = change.apart;
  return view;
}

void Groups::deliver_full(const Group& group, const Change& change, std::span<const SessionId> to) {
  if (to.empty()) return;
  context_.turn.count(group.members.size());
  protocol::GroupViewFrame view = head_of(group, change);
  view.members.reserve(group.members.size());
  for (const GroupMember& member : group.members) view.members.push_back(member.name());
  clients_->deliver_view(to, view);
}

void Groups::deliver_change(const Group& group, const Change& change, std::span<const SessionId> to) {
  if (to.empty()) return;
  protocol::GroupViewFrame view = head_of(group, change);
  view.form = spindle::ViewForm::change;
  clients_->deliver_view(to, view);
}

void Groups::tell(const Group& group, const Change& change, std::span<const SessionId> told,
                  std::span<const SessionId> first) {
  if (told.empty() && first.empty()) return;
  context_.turn.count(told.size() + first.size());
  note_told(group, change.cause);
  if (is_large(group)) {
    deliver_change(group, change, told);
    deliver_full(group, change, first);
  } else {
    deliver_full(group, change, local_members(group));
  }
}

void Groups::tell_join(const Group& group, std::string_view joined, std::optional<SessionId> local) {
  if (told_) return;
  // Whoever joins comes last.
  const std::vector<SessionId> local_ones = local_members(group);
  const std::span<const SessionId> all(local_ones);
  const std::size_t told = all.size() - (local ? 1 : 0);
  tell(group, {Cause::join, {joined}, {}, {}}, all.first(told), all.subspan(told));
}

void Groups::tell_removal(const Group& group, Cause cause, std::string_view left) {
  if (!told_) tell(group, {cause, {}, {left}, {}}, local_members(group), {});
}

void Groups::tell_farewell(const Group& group, SessionId session, std::string_view name) {
  // The one who left is told so, and not who is in the group any more.
  protocol::GroupViewFrame farewell;
  farewell.group = group.name;
  farewell.id = view_id();
  farewell.cause = Cause::leave;
  farewell.form = spindle::ViewForm::farewell;
  farewell.left = {name};
  clients_->deliver_view(std::span(&session, 1), farewell);
}

bool Groups::is_as_before(const Group& group, const Group& before) const {
  const auto is_same = [this](const GroupMember& now, const GroupMember& then) {
    return now.hash() == then.hash() && now.name() == then.name() && came_along_.contains(now.daemon()) &&
           (now.daemon() != view_.self || now.session() == then.session());
  };
  return std::equal(group.members.begin(), group.members.end(), before.members.begin(), before.members.end(), is_same);
}

void Groups::tell_network_change(const Group& group, const Group* former) {
  const bool expected = signals_to_end_.contains(group.name);  // also where nothing has changed
  const ToldGroup* changed = told_->changed(group.name);
  if (changed == nullptr && former != nullptr && !expected && is_as_before(group, *former)) {
    return table_.set_last_view(group, former->last_view);
  }
  const ToldGroup before = changed != nullptr  ? *changed
                           : former != nullptr ? ToldGroup::of(*former, view_.self)
                                               : ToldGroup();
  const std::vector<std::string>& old_list = before.members.names();
  const std::unordered_set<std::string_view> old_names(old_list.begin(), old_list.end());
  std::unordered_set<std::string_view> names;
  Change change{Cause::network, {}, {}, {}};
  for (const GroupMember& member : group.members) {
    names.insert(member.name());
    if (!old_names.contains(member.name())) {
      change.joined.push_back(member.name());
    } else if (!came_along_.contains(member.daemon()) || before.left.contains(member.name())) {
      change.apart.push_back(member.name());
    }
  }
  for (const std::string& name : old_list) {
    if (!names.contains(name)) change.left.push_back(name);
  }
  table_.set_last_view(group, before.last_view);
  tell_newcomers(group, change, before);
  // Where nothing has changed somebody may, under a name that was there, be a member for the first time.
  if (!expected && change.joined.empty() && change.left.empty() && change.apart.empty()) return;
  std::vector<SessionId> told;
  for (const SessionId session : local_members(group)) {
    if (before.sessions.contains(session)) told.push_back(session);
  }
  if (told.empty()) return;
  context_.turn.count(told.size());
  note_told(group, change.cause);
  // A client applies the change to its list by the rule of MemberList. Where that does not give the list that all agree
  // on, as after somebody has left and joined again meanwhile, a change would not do.
  protocol::MemberList list = before.members;
  const bool applies = list.apply(change.joined, change.left) && list.digest() == group.digest;
  if (applies && is_large(group)) return deliver_change(group, change, told);
  deliver_full(group, change, told);
}

void Groups::tell_newcomers(const Group& group, const Change& change, const ToldGroup& before) {
  std::vector<SessionId> newcomers;
  for (const SessionId session : local_members(group)) {
    if (!before.sessions.contains(session)) newcomers.push_back(session);
  }
  if (newcomers.empty()) return;
  context_.turn.count(newcomers.size() + group.members.size());
  note_told(group, change.cause);
  // Those who are back are for the others apart, and not new.
  const std::unordered_set<SessionId> here(newcomers.begin(), newcomers.end());
  const std::unordered_set<std::string_view> joined(change.joined.begin(), change.joined.end());
  Change own{change.cause, {}, {}, {}};
  for (const GroupMember& member : group.members) {
    const bool is_new = joined.contains(member.name()) || (member.is_of(view_.self) && here.contains(member.session()));
    (is_new ? own.joined : own.apart).push_back(member.name());
  }
  deliver_full(group, own, newcomers);
}

bool Groups::is_told_later(std::string_view group) const {
  if (!told_) return false;
  if (told_->table() == nullptr) return told_->changed(group) != nullptr;
  return !(telling_ && (told_next_ == nullptr || group < told_next_->name));
}

std::optional<Errc> Groups::request_view(SessionId session, const std::string& name) {
  protocol::GroupViewFrame view;
  view.group = name;
  view.form = spindle::ViewForm::answer;
  const Group* group = table_.find(name);
  LastView last;
  ToldGroup told;
  if (is_told_later(name)) {
    const Group* former = kept().find(name);
    if (const ToldGroup* changed = told_->changed(name)) {
      told = *changed;
    } else if (former != nullptr) {
      told = ToldGroup::of(*former, view_.self);
    }
    if (!told.sessions.contains(session)) return Errc::not_a_member;
    const std::vector<std::string>& members = told.members.names();
    view.members.assign(members.begin(), members.end());
    view.digest = told.members.digest();
    last = told.last_view;
  } else if (group != nullptr && table_.is_member(*group, view_.self, session)) {
    for (const GroupMember& member : group->members) view.members.push_back(member.name());
    view.digest = group->digest;
    last = group->last_view;
  } else {
    return Errc::not_a_member;
  }
  context_.turn.count(view.members.size());
  view.id = {last.view()->number, last.view()->coordinator, last.view()->incarnation, last.position()};
  view.cause = last.cause();
  clients_->deliver_view(std::span(&session, 1), view);
  return std::nullopt;
}

}  // namespace spindled
