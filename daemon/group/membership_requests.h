// What local clients ask for: to join groups and to leave them.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/group/group_state.h"
#include "daemon/group/message_sender.h"
#include "daemon/group/request_line.h"
#include "daemon/group/subscriptions.h"

namespace spindled {

/// Requests may come at any time. They wait for the next view where one is being agreed on, for those of the same
/// session before them, and a daemon's first join of a group for its subscription (Subscriptions); then they enter the
/// order.
class MembershipRequests {
 public:
  explicit MembershipRequests(GroupState& state) : state_(state) {}

  /// `sender` stays where it is until the session is closed.
  void open_session(Sender& sender) { sessions_[sender.session].sender = &sender; }
  /// The session is gone: it leaves all its groups, and what it asked for and has not entered the order is forgotten.
  void close_session(Time now, SessionId session);
  /// Nothing on success: the group view that follows shows it done. LocalClients::requests_done tells when.
  /// `synchronous`: what the client takes the group to be.
  std::optional<Errc> join(Time now, SessionId session, const std::string& group, bool synchronous = false);
  std::optional<Errc> leave(Time now, SessionId session, const std::string& group);

  /// Whether the session has joined `group`, or asked to, and not asked to leave it.
  bool is_member(SessionId session, std::string_view group) const;
  /// Of how many groups this is true.
  std::size_t count_of(SessionId session) const { return sessions_.at(session).groups; }
  /// This is true of groups of both kinds, and of the first less those that it has asked to leave: the groups that it
  /// is in, by their numbers in the table that is kept, and those that it has asked to join. There may be very many of
  /// the first.
  std::vector<GroupId> joined_by(SessionId session) const {
    return state_.kept().groups_of(state_.kept().self(), session);
  }
  std::vector<std::string> asked_for_by(SessionId session) const;
  /// Whether a request of the session to join or to leave `group` is not done yet.
  bool has_open_request(SessionId session, std::string_view group) const;

  /// Null where it is closed.
  Sender* find_sender(SessionId session) {
    const auto at = sessions_.find(session);
    return at == sessions_.end() ? nullptr : at->second.sender;
  }

  // What comes out of the order.

  /// Of this daemon's own operations.
  void subscribed(const std::string& group, std::uint64_t position) { subscriptions_.subscribed(group, position); }
  void unsubscribed(Time now, const std::string& group) { take(now, subscriptions_.unsubscribed(group), group); }
  void joined(Time now, SessionId session, const std::string& group);
  /// Instead: the group is not what the client took it to be.
  void refused(Time now, SessionId session, const std::string& group);
  /// A local member is out of the group, for whatever reason.
  void left(Time now, const Group& group);
  /// The first request of the session that has entered is done.
  void done(Time now, SessionId session);
  /// Joins go on for whose subscriptions everything that is still to be ordered was sent by daemons that had been
  /// through the order up to `position`.
  void horizon_reached(Time now, std::uint64_t position);

  // Around a view change.

  /// A new view: all that has not entered goes on when its group table is there.
  void restart();
  /// The group table is there.
  void resume(Time now);

 private:
  struct LocalSession {
    Sender* sender = nullptr;
    RequestLine requests;
    std::size_t groups = 0;  // how many it has joined or asked to join, and not asked to leave
  };

  void request(Time now, LocalSession& local, RequestLine::Kind kind, const std::string& group,
               bool synchronous = false);
  /// Orders the subscription that a join needs, where there is none.
  void want(Time now, const LocalSession& local, const std::string& group);
  /// Lets requests of the session enter until one has to wait, or very many have: whether that is so.
  bool let_enter(Time now, LocalSession& local);
  /// Whether it does; a join then counts as on its way.
  bool try_enter(Time now, const Sender& sender, const RequestLine::Request& request);
  void take(Time now, Subscriptions::Step step, const std::string& group);
  /// As `let_enter`.
  bool resume(Time now, SessionId session);
  std::size_t local_members_of(const std::string& group) const;

  GroupState& state_;
  Subscriptions subscriptions_;
  std::map<SessionId, LocalSession> sessions_;
  std::set<SessionId> requesting_;  // those with requests that are not done
  std::set<SessionId> to_resume_;   // of these: whose requests have yet to go on in this view
  std::deque<SessionId> departed_;  // that closed while nothing could be sent, and were in groups
};

}  // namespace spindled
