// Groups: what local sessions ask for, on its way into the order.
#include <deque>

#include "daemon/group/groups.h"

namespace spindled {

using Kind = RequestLine::Kind;

void Groups::open_session(Sender& sender) { sessions_[sender.session].sender = &sender; }

void Groups::close_session(Time now, SessionId session) {
  const auto at = sessions_.find(session);
  if (at == sessions_.end()) return;
  const LocalSession local = std::move(at->second);
  sessions_.erase(at);
  give_up_entering(now, session);
  requesting_.erase(session);
  const bool wanted = to_resume_.erase(session) == 0;
  const bool in_groups = local.groups != 0 || !local.requests.empty() || table_.is_in_groups(view_.self, session);
  local.requests.for_each_waiting([&](const RequestLine::Request& request) {
    if (request.kind != Kind::join || !wanted) return;
    take(now, subscriptions_.withdraw(request.group, local_members_of(request.group)), request.group);
  });
  if (!in_groups) return;
  if (is_ready()) {
    originate(now, Disconnect{session});
  } else {
    departed_.push_back(session);
  }
}

std::optional<Errc> Groups::join(Time now, SessionId session, const std::string& group) {
  LocalSession& local = sessions_.at(session);
  if (local.groups >= context_.config.session.memberships_max) return Errc::too_many_memberships;
  if (is_member(session, group)) return Errc::already_a_member;
  if (kept().size() + subscriptions_.size() >= context_.config.session.groups_max && kept().find(group) == nullptr) {
    return Errc::group_table_full;
  }
  ++local.groups;
  request(now, local, Kind::join, group);
  return std::nullopt;
}

std::optional<Errc> Groups::leave(Time now, SessionId session, const std::string& group) {
  LocalSession& local = sessions_.at(session);
  if (!is_member(session, group)) return Errc::not_a_member;
  --local.groups;
  request(now, local, Kind::leave, group);
  return std::nullopt;
}

bool Groups::is_member(SessionId session, std::string_view group) const {
  const auto at = sessions_.find(session);
  if (at == sessions_.end()) return false;
  if (const auto last = at->second.requests.last(group)) return *last == Kind::join;
  const Group* joined = kept().find(group);
  return joined != nullptr && kept().is_member(*joined, kept().self(), session);
}

bool Groups::has_open_request(SessionId session, std::string_view group) const {
  const auto at = sessions_.find(session);
  return at != sessions_.end() && at->second.requests.has(group);
}

void Groups::request(Time now, LocalSession& local, Kind kind, const std::string& group) {
  local.requests.add(kind, group);
  local.sender->open_requests = local.requests.size();
  requesting_.insert(local.sender->session);
  if (!is_ready()) return;
  if (!departed_.empty()) {
    // One of these may have had the client's name, and be in the group: it leaves first.
    to_resume_.insert(local.sender->session);
    return;
  }
  if (to_resume_.contains(local.sender->session)) return resume_requests(now, local.sender->session);
  if (kind == Kind::join) want(now, local, group);
  let_enter(now, local);
}

void Groups::want(Time now, const LocalSession& local, const std::string& group) {
  take(now, subscriptions_.want(group, local.sender->session, local_members_of(group)), group);
}

void Groups::let_enter(Time now, LocalSession& local) {
  RequestLine& requests = local.requests;
  while (!requests.all_entered() && may_enter(requests.next())) {
    enter(now, *local.sender, requests.next());
    requests.entered();
  }
}

bool Groups::may_enter(const RequestLine::Request& request) {
  return request.kind == Kind::leave || subscriptions_.start_join(request.group);
}

void Groups::enter(Time now, const Sender& sender, const RequestLine::Request& request) {
  if (request.kind == Kind::join) {
    originate(now, JoinGroup{request.group, sender.session, sender.client});
  } else {
    originate(now, LeaveGroup{request.group, sender.session});
  }
}

void Groups::horizon_reached(Time now, std::uint64_t position) {
  if (!subscriptions_.has_passed(position)) return;
  steps_.add(now, [this, position, waiting = std::deque<SessionId>()](Time later) mutable {
    // While a view ends nothing can be sent, and nothing needs to be: the subscriptions start over in the next one.
    if (!is_ready()) return true;
    context_.turn.count(1);
    if (!waiting.empty()) {
      if (const auto at = sessions_.find(waiting.front()); at != sessions_.end()) let_enter(later, at->second);
      waiting.pop_front();
    } else if (subscriptions_.has_passed(position)) {
      const Subscriptions::Reached reached = subscriptions_.pass_horizon();
      take(later, reached.step, reached.group);
      waiting.assign(reached.sessions.begin(), reached.sessions.end());
    }
    return waiting.empty() && !subscriptions_.has_passed(position);
  });
}

void Groups::request_done(Time now, SessionId session) {
  const auto at = sessions_.find(session);
  if (at == sessions_.end() || !at->second.requests.has_entered()) return;
  LocalSession& local = at->second;
  local.requests.done();
  local.sender->open_requests = local.requests.size();
  if (local.requests.empty()) requesting_.erase(session);
  clients_->requests_done(now, session);
}

void Groups::resume_requests(Time now) {
  to_resume_ = requesting_;
  steps_.add(now, [this](Time later) {
    if (!is_ready()) return true;  // all go on in the next view
    context_.turn.count(1);
    if (!departed_.empty()) {
      originate(later, Disconnect{departed_.front()});
      departed_.pop_front();
    } else if (!to_resume_.empty()) {
      resume_requests(later, *to_resume_.begin());
    }
    return departed_.empty() && to_resume_.empty();
  });
}

void Groups::resume_requests(Time now, SessionId session) {
  to_resume_.erase(session);
  // Closing the old view has brought all that had entered.
  while (sessions_.at(session).requests.has_entered()) request_done(now, session);
  LocalSession& local = sessions_.at(session);
  local.requests.for_each_waiting([&](const RequestLine::Request& request) {
    if (request.kind == Kind::join) want(now, local, request.group);
  });
  let_enter(now, local);
}

}  // namespace spindled
