#include "daemon/group/flushes.h"

#include <algorithm>

namespace spindled {

namespace {
/// So many are gone through in the time that is one unit of a turn's work.
constexpr std::size_t kNamesPerUnit = 16;
}  // namespace

// --- Changes ---

PendingView Flushes::view_of(const Group& group, MemberIndex self) {
  PendingView view;
  view.told = ToldGroup::of(group, self);
  for (const GroupMember& member : group.members) {
    if (!member.is_lost()) view.together.insert(member.daemon());
  }
  return view;
}

void Flushes::keep(const Group& group) {
  if (!group.is_synchronous() || group.is_pending() || find(group.name) != nullptr) return;
  PendingView view = view_of(group, state_.view.self);
  if (!view.told.sessions.empty()) state_.pending_views.emplace(group.name, std::move(view));
}

void Flushes::joined(const Group& group, SessionId session) { close(session, group.name); }

void Flushes::left(const Group& group, MemberIndex daemon, SessionId session, const std::string& name) {
  PendingView* view = find(group.name);
  if (view != nullptr) view->told.left.insert(name);
  if (daemon != state_.view.self) return;
  open(session, group.name);
  if (view == nullptr) return;
  view->told.sessions.erase(session);
  view->asked.erase(session);
  view->answered.erase(session);
  if (view->told.sessions.empty()) end(state_.pending_views.find(group.name));
}

void Flushes::changed(Time now, const Group& group, Cause cause, std::uint64_t position) {
  state_.table.pend(group, cause);
  if (!state_.told) go_on(now, group, position);
}

void Flushes::flushed(Time now, const Delivery& message, const Flushed& operation) {
  // Those who move together take it in the same way: behind that point all begin anew with the next view.
  if (state_.told) return;
  const Group* group = state_.table.find(operation.group);
  if (group == nullptr || !group->is_synchronous()) return;
  if (state_.table.flush(*group, message.origin, operation.round)) go_on(now, *group, message.position);
}

void Flushes::go_on(Time now, const Group& group, std::uint64_t position) {
  state_.context.turn.count(group.members.size());
  if (GroupTable::is_due(group)) return stand(now, group, position);
  PendingView* view = find(group.name);
  if (view == nullptr) return;
  ask(now, group, *view);
  say_flushed(now, group, *view);
}

void Flushes::ask(Time now, const Group& group, PendingView& view) {
  std::vector<SessionId> to;
  const PendingView::Asked asked{now + state_.context.config.session.flush_timeout, last_request_ + 1, false};
  for (const SessionId session : view.told.sessions) {
    if (!view.answered.contains(session) && view.asked.try_emplace(session, asked).second) to.push_back(session);
  }
  if (to.empty()) return;
  ++last_request_;
  set_due(state_.pending_views.find(group.name)->first, view, std::min(view.due, asked.until));
  state_.context.turn.count(to.size());
  state_.context.counters.add(Counter::flush_requests, to.size());
  state_.clients->deliver_flush_request(to, {last_request_, group.name});
}

void Flushes::say_flushed(Time now, const Group& group, PendingView& view) {
  if (view.has_flushed || view.answered.size() < view.told.sessions.size() || !state_.is_ready()) return;
  view.has_flushed = true;
  state_.context.counters.add(Counter::flushes_sent);
  state_.originate(now, Flushed{group.name, group.synchrony->round});
}

void Flushes::stand(Time now, const Group& group, std::uint64_t position) {
  // With a view of the daemons the views of all groups come at one place, whether a daemon has members in them or not.
  if (position != 0) ++state_.changes;
  std::vector<SessionId> newcomers;
  for (const GroupMember& member : group.members_of(state_.view.self)) {
    if (!group.has_view(member)) newcomers.push_back(member.session());
  }
  const bool is_of_network = group.synchrony->cause() == Cause::network;
  tell(group, newcomers);
  state_.table.stand(group, position);
  // Fifo messages of the new view take places in the order until all have come to this one.
  if (position != 0) state_.order->report_progress();
  end(state_.pending_views.find(group.name));
  open(now, group.name);
  for (const SessionId each : newcomers) {
    if (position != 0) state_.observers.member_came(now, group, each);
  }
  if (signals_.are_due()) signals_.signal_view(group, is_of_network, newcomers);
}

void Flushes::tell(const Group& group, std::span<const SessionId> newcomers) {
  const PendingView* view = find(group.name);
  const Synchrony& synchrony = *group.synchrony;
  if (synchrony.cause() == Cause::network) {
    return views_.tell_network_view(group, view != nullptr ? view->told : ToldGroup(),
                                    view != nullptr ? view->together : MemberSet(), true);
  }
  std::vector<std::string_view> joined;
  for (const GroupMember& member : group.members) {
    if (!group.has_view(member)) joined.push_back(member.name());
  }
  std::vector<SessionId> told;
  if (view != nullptr) told.assign(view->told.sessions.begin(), view->told.sessions.end());
  views_.tell_changes(group, synchrony.cause(), std::move(joined), {synchrony.left.begin(), synchrony.left.end()}, told,
                      newcomers);
}

// --- Local clients ---

bool Flushes::is_wanted(SessionId session, const spindle::protocol::Flush& answer) const {
  const PendingView* view = find(answer.group);
  if (view == nullptr) return false;
  const auto asked = view->asked.find(session);
  return asked != view->asked.end() && asked->second.request == answer.request;
}

void Flushes::answer(Time now, SessionId session, const spindle::protocol::Flush& answer) {
  if (!is_wanted(session, answer)) return;
  const std::string name(answer.group);
  PendingView* view = find(name);
  view->asked.erase(session);
  view->answered.insert(session);
  close(session, name);
  const Group* group = state_.table.find(name);
  if (group != nullptr && group->is_synchronous()) say_flushed(now, *group, *view);
}

bool Flushes::has_no_view_yet(SessionId session, std::string_view group) const {
  const PendingView* view = find(group);
  return !may_send(session, group) && (view == nullptr || !view->told.sessions.contains(session));
}

void Flushes::expel(SessionId session, const std::string& group) { expelled_[session].insert(group); }

void Flushes::readmit(SessionId session, std::string_view group) {
  const auto at = expelled_.find(session);
  if (at == expelled_.end()) return;
  if (const auto found = at->second.find(group); found != at->second.end()) at->second.erase(found);
  if (at->second.empty()) expelled_.erase(at);
}

std::size_t Flushes::expelled_from(SessionId session) const {
  const auto at = expelled_.find(session);
  return at == expelled_.end() ? 0 : at->second.size();
}

std::string_view Flushes::expelled_from(SessionId session, const std::vector<std::string>& groups) const {
  const auto at = expelled_.find(session);
  if (at == expelled_.end()) return {};
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const std::string& group) { return at->second.contains(group); });
  return found == groups.end() ? std::string_view() : std::string_view(*found);
}

bool Flushes::is_for_members(const Group& group, MemberIndex origin, std::uint64_t view) const {
  if (view == 0) return true;  // of who is no member
  // What was sent in the view before has come before this one stood. But as the view of the daemons ends, what was sent
  // in the next one may come from those who have parted: where that stood is known to them alone.
  if (view != group.synchrony->round + 1) return false;
  const PendingView* pending = find(group.name);
  return pending == nullptr || pending->together.contains(origin);
}

void Flushes::end(std::map<std::string, PendingView, std::less<>>::iterator view) {
  if (view == state_.pending_views.end()) return;
  set_due(view->first, view->second, kNever);
  state_.pending_views.erase(view);
}

void Flushes::set_due(const std::string& group, PendingView& view, Time due) {
  if (due == view.due) return;
  due_.erase({view.due, group});
  view.due = due;
  if (due != kNever) due_.emplace(due, group);
}

void Flushes::close(SessionId session, const std::string& group) {
  if (!closed_[group].insert(session).second) return;
  if (Sender* sender = requests_.find_sender(session)) ++sender->closed_groups;
}

void Flushes::open(SessionId session, std::string_view group) {
  const auto at = closed_.find(group);
  if (at == closed_.end() || at->second.erase(session) == 0) return;
  if (Sender* sender = requests_.find_sender(session)) --sender->closed_groups;
  if (at->second.empty()) closed_.erase(at);
}

void Flushes::open(Time now, const std::string& group) {
  const auto at = closed_.find(group);
  if (at == closed_.end()) return;
  const std::set<SessionId> sessions = std::move(at->second);
  closed_.erase(at);
  for (const SessionId session : sessions) {
    if (Sender* sender = requests_.find_sender(session)) --sender->closed_groups;
    state_.clients->requests_done(now, session);
  }
}

// --- Views of the daemons ---

void Flushes::carry_over(Time now, const GroupTable::Renumbering& to) {
  state_.steps.add(now, [this, to, next = std::string()](Time) mutable {
    auto at = state_.pending_views.upper_bound(next);
    state_.context.turn.count(1);
    for (std::size_t i = 0; i < kNamesPerUnit && at != state_.pending_views.end(); ++i, ++at) {
      carry_over(at->second, to);
      next = at->first;
    }
    return at == state_.pending_views.end();
  });
}

void Flushes::carry_over(PendingView& view, const GroupTable::Renumbering& to) {
  view.has_flushed = false;
  MemberSet together;
  view.together.for_each([&](MemberIndex daemon) {
    if (to[daemon]) together.insert(*to[daemon]);
  });
  view.together = together;
}

void Flushes::renew(const Group& group, const Group& former) {
  if (!former.is_synchronous()) return;
  // It is not the same where sides have met; and where it is, nothing of it has to be told.
  if (group.is_pending() || !group.is_synchronous()) keep(former);
  const PendingView* view = find(group.name);
  state_.table.set_last_view(group, view != nullptr ? view->told.last_view : former.last_view);
}

void Flushes::settle(Time now, const std::set<std::string, std::less<>>& signalled) {
  // In the order of names; none is empty.
  state_.steps.add(now, [this, &signalled, last = std::string()](Time later) mutable {
    const std::optional<std::string> next = first_to_settle(signalled, last);
    if (!next) return true;
    state_.context.turn.count(1);
    last = *next;
    settle(later, last, signalled.contains(last));
    return false;
  });
  // And the views that wait for members of other daemons only.
  state_.steps.add(now, [this, last = GroupId{0}](Time later) mutable {
    const auto next = state_.table.pending().upper_bound(last);
    if (next == state_.table.pending().end()) return true;
    state_.context.turn.count(1);
    last = *next;
    const Group* group = state_.table.find(last);
    if (!tells(group->name)) settle(later, group->name, false);
    return false;
  });
}

std::optional<std::string> Flushes::first_to_settle(const std::set<std::string, std::less<>>& signalled,
                                                    const std::string& last) const {
  std::optional<std::string> first;
  const auto look = [&](const std::string& name) {
    if (!first || name < *first) first = name;
  };
  if (const auto at = signalled.upper_bound(last); at != signalled.end()) look(*at);
  if (const auto at = state_.pending_views.upper_bound(last); at != state_.pending_views.end()) look(at->first);
  if (const auto at = closed_.upper_bound(last); at != closed_.end()) look(at->first);
  return first;
}

void Flushes::settle(Time now, const std::string& name, bool is_signalled) {
  const Group* group = state_.table.find(name);
  if (group != nullptr && group->is_synchronous()) {
    if (is_signalled) keep(*group);
    if (!is_signalled && !group->is_pending()) return;
    state_.table.pend(*group, Cause::network);
    return go_on(now, *group, 0);
  }
  if (!tells(name)) return;
  // Sides that disagreed on what it is have met: it is ordinary from this view on.
  if (group != nullptr) {
    const PendingView* view = find(name);
    views_.tell_network_view(*group, view != nullptr ? view->told : ToldGroup(),
                             view != nullptr ? view->together : MemberSet(), true);
  }
  end(state_.pending_views.find(name));
  open(now, name);
}

void Flushes::resume(Time now) {
  state_.steps.add(now, [this, next = std::string()](Time later) mutable {
    const auto at = state_.pending_views.upper_bound(next);
    if (at == state_.pending_views.end() || !state_.is_ready()) return true;
    state_.context.turn.count(1);
    next = at->first;
    if (const Group* group = state_.table.find(next)) say_flushed(later, *group, at->second);
    return false;
  });
}

}  // namespace spindled
