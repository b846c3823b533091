#include "daemon/group/membership_requests.h"

namespace spindled {

using Kind = RequestLine::Kind;

namespace {
/// Requests of one client that enter in one step. Each is an operation to all daemons.
constexpr std::size_t kEnteringAtOnce = 8;
/// So many that are done, or that wait, are gone through in the time that is one unit of a turn's work.
constexpr std::size_t kRequestsPerUnit = 8;
}  // namespace

void MembershipRequests::close_session(Time now, SessionId session) {
  const auto at = sessions_.find(session);
  if (at == sessions_.end()) return;
  const LocalSession local = std::move(at->second);
  sessions_.erase(at);
  requesting_.erase(session);
  const bool wanted = to_resume_.erase(session) == 0;
  const bool in_groups =
      local.groups != 0 || !local.requests.empty() || state_.table.is_in_groups(state_.view.self, session);
  local.requests.for_each_waiting([&](const RequestLine::Request& request) {
    if (request.kind != Kind::join || !wanted) return;
    take(now, subscriptions_.withdraw(request.group, local_members_of(request.group)), request.group);
  });
  if (!in_groups) return;
  if (state_.is_ready()) {
    state_.observers.member_leaves(now, session);
    state_.originate(now, Disconnect{session});
  } else {
    departed_.push_back(session);
  }
}

std::optional<Errc> MembershipRequests::join(Time now, SessionId session, const std::string& group, bool synchronous) {
  LocalSession& local = sessions_.at(session);
  if (is_member(session, group)) return Errc::already_a_member;
  if (local.groups >= state_.context.config.session.memberships_max) return Errc::too_many_memberships;
  const Group* known = state_.kept().find(group);
  if (known != nullptr && !known->members.empty() && known->is_synchronous() != synchronous) return Errc::mode_mismatch;
  const bool is_full = state_.kept().size() + subscriptions_.size() >= state_.context.config.session.groups_max ||
                       state_.context.memory.is_full();
  if (is_full && known == nullptr) {
    return Errc::group_table_full;
  }
  ++local.groups;
  if (synchronous) local.sender->has_synchronous_groups = true;
  request(now, local, Kind::join, group, synchronous);
  return std::nullopt;
}

std::optional<Errc> MembershipRequests::leave(Time now, SessionId session, const std::string& group) {
  LocalSession& local = sessions_.at(session);
  if (!is_member(session, group)) return Errc::not_a_member;
  --local.groups;
  request(now, local, Kind::leave, group);
  return std::nullopt;
}

bool MembershipRequests::is_member(SessionId session, std::string_view group) const {
  const auto at = sessions_.find(session);
  if (at == sessions_.end()) return false;
  if (const auto last = at->second.requests.last(group)) return *last == Kind::join;
  const Group* joined = state_.kept().find(group);
  return joined != nullptr && state_.kept().is_member(*joined, state_.kept().self(), session);
}

std::vector<std::string> MembershipRequests::asked_for_by(SessionId session) const {
  std::vector<std::string> names;
  const auto at = sessions_.find(session);
  if (at == sessions_.end()) return names;
  at->second.requests.for_each_group([&](const std::string& group, RequestLine::Kind last) {
    if (last == Kind::join) names.push_back(group);
  });
  return names;
}

bool MembershipRequests::has_open_request(SessionId session, std::string_view group) const {
  const auto at = sessions_.find(session);
  return at != sessions_.end() && at->second.requests.has(group);
}

void MembershipRequests::request(Time now, LocalSession& local, Kind kind, const std::string& group, bool synchronous) {
  local.requests.add(kind, group, synchronous);
  local.sender->open_requests = local.requests.size();
  requesting_.insert(local.sender->session);
  if (!state_.is_ready()) return;
  // One of those who have gone may have had the client's name, and be in the group: it leaves first.
  if (!departed_.empty()) to_resume_.insert(local.sender->session);
  if (to_resume_.contains(local.sender->session)) return;
  if (kind == Kind::join) want(now, local, group);
  let_enter(now, local);
}

void MembershipRequests::want(Time now, const LocalSession& local, const std::string& group) {
  take(now, subscriptions_.want(group, local.sender->session, local_members_of(group)), group);
}

bool MembershipRequests::let_enter(Time now, LocalSession& local) {
  RequestLine& requests = local.requests;
  for (std::size_t entered = 0; entered < kEnteringAtOnce; ++entered) {
    if (requests.all_entered() || !try_enter(now, *local.sender, requests.next())) return false;
    requests.entered();
    state_.context.turn.count(1);
  }
  return true;
}

bool MembershipRequests::try_enter(Time now, const Sender& sender, const RequestLine::Request& request) {
  if (request.kind == Kind::leave) {
    state_.observers.member_leaves(now, sender.session);
    state_.originate(now, LeaveGroup{request.group, sender.session});
    return true;
  }
  if (!subscriptions_.start_join(request.group)) return false;
  state_.originate(now, JoinGroup{request.group, sender.session, sender.client, request.synchronous});
  return true;
}

void MembershipRequests::take(Time now, Subscriptions::Step step, const std::string& group) {
  // While a view ends nothing can be sent, and nothing needs to be: the subscriptions start over in the next one.
  if (!state_.is_ready()) return;
  if (step == Subscriptions::Step::subscribe) state_.originate(now, Subscribe{group});
  if (step == Subscriptions::Step::unsubscribe) state_.originate(now, Unsubscribe{group});
}

std::size_t MembershipRequests::local_members_of(const std::string& name) const {
  const Group* group = state_.table.find(name);
  return group == nullptr ? 0 : group->members_of(state_.view.self).size();
}

// --- Out of the order ---

void MembershipRequests::joined(Time now, SessionId session, const std::string& group) {
  subscriptions_.joined(group, local_members_of(group));
  done(now, session);
}

void MembershipRequests::refused(Time now, SessionId session, const std::string& group) {
  const std::size_t members = local_members_of(group);
  subscriptions_.joined(group, members);
  if (members == 0) take(now, subscriptions_.left(group, 0), group);
  const auto at = sessions_.find(session);
  // Where it has asked to leave meanwhile, that was counted.
  if (at != sessions_.end() && at->second.requests.count(group) == 1) --at->second.groups;
  done(now, session);
}

void MembershipRequests::left(Time now, const Group& group) {
  take(now, subscriptions_.left(group.name, group.members_of(state_.view.self).size()), group.name);
}

void MembershipRequests::horizon_reached(Time now, std::uint64_t position) {
  if (!subscriptions_.has_passed(position)) return;
  state_.steps.add(now, [this, position, waiting = std::deque<SessionId>()](Time later) mutable {
    // While a view ends nothing can be sent, and nothing needs to be: the subscriptions start over in the next one.
    if (!state_.is_ready()) return true;
    state_.context.turn.count(1);
    if (!waiting.empty()) {
      const auto at = sessions_.find(waiting.front());
      if (at == sessions_.end() || !let_enter(later, at->second)) waiting.pop_front();
    } else if (subscriptions_.has_passed(position)) {
      const Subscriptions::Reached reached = subscriptions_.pass_horizon();
      take(later, reached.step, reached.group);
      waiting.assign(reached.sessions.begin(), reached.sessions.end());
    }
    return waiting.empty() && !subscriptions_.has_passed(position);
  });
}

void MembershipRequests::done(Time now, SessionId session) {
  const auto at = sessions_.find(session);
  if (at == sessions_.end() || !at->second.requests.has_entered()) return;
  LocalSession& local = at->second;
  local.requests.done();
  local.sender->open_requests = local.requests.size();
  if (local.requests.empty()) requesting_.erase(session);
  state_.clients->requests_done(now, session);
}

// --- Around a view change ---

void MembershipRequests::restart() {
  subscriptions_.restart();
  to_resume_.clear();
}

void MembershipRequests::resume(Time now) {
  to_resume_ = requesting_;
  state_.steps.add(now, [this, entering = std::optional<SessionId>()](Time later) mutable {
    if (!state_.is_ready()) return true;  // all go on in the next view
    state_.context.turn.count(1);
    if (entering) {
      const auto at = sessions_.find(*entering);
      if (at == sessions_.end() || !let_enter(later, at->second)) entering.reset();
    } else if (!departed_.empty()) {
      state_.originate(later, Disconnect{departed_.front()});
      departed_.pop_front();
    } else if (!to_resume_.empty()) {
      const SessionId next = *to_resume_.begin();
      if (resume(later, next)) entering = next;
    }
    return departed_.empty() && to_resume_.empty() && !entering;
  });
}

bool MembershipRequests::resume(Time now, SessionId session) {
  to_resume_.erase(session);
  LocalSession& local = sessions_.at(session);
  state_.context.turn.count(local.requests.size() / kRequestsPerUnit);
  // Closing the old view has brought all that had entered.
  while (local.requests.has_entered()) done(now, session);
  local.requests.for_each_waiting([&](const RequestLine::Request& request) {
    if (request.kind == Kind::join) want(now, local, request.group);
  });
  return let_enter(now, local);
}

}  // namespace spindled
