// The sessions of a daemon.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/session/session.h"

namespace spindled {

/// Finds sessions by id, connection and name; and knows which have something to write, and which wait.
class SessionTable {
 public:
  Session& add(std::unique_ptr<Session> session);
  /// Nothing refers to it any more.
  void forget(const Session& session);

  /// The connection of `session` is gone, or another one is its connection from now on.
  void detach(const Session& session) { by_connection_.erase(session.connection()); }
  void attach(Session& session, ConnectionId connection) { by_connection_[connection] = &session; }

  Session* find(ConnectionId connection) const;
  Session* find(SessionId id) const;
  bool empty() const { return sessions_.empty(); }
  std::size_t size() const { return sessions_.size(); }
  /// In the order in which they were opened.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [id, session] : sessions_) visit(*session);
  }
  /// The same, where `visit` may forget any.
  template <typename Visit>
  void for_each_of_now(Visit&& visit) const {
    std::vector<Session*> all;
    for (const auto& [id, session] : sessions_) all.push_back(session.get());
    for (Session* session : all) visit(*session);
  }

  // Names.

  /// Registers the name that the client wishes, or one that is free where it wishes none.
  Result<std::string> take_name(const Session& session, std::string_view wish);
  void give_up_name(const Session& session);
  std::optional<SessionId> find_client(std::string_view name) const;

  // What there is to do. Sessions that are gone meanwhile stay in the lists, and are not found.

  /// It has something to write.
  void mark_dirty(Session& session) {
    if (!std::exchange(session.marks.dirty, true)) dirty_.push_back(session.id());
  }
  std::vector<SessionId>& dirty() { return dirty_; }
  /// It waits, or holds messages that do.
  void mark_waiting(Session& session) {
    if (!std::exchange(session.marks.listed, true)) waiting_.push_back(session.id());
    retry_waiting_at(session.retry_at());
  }
  /// Those that do, in the order in which they began to.
  std::vector<SessionId>& waiting() { return waiting_; }
  /// When the first of them is worth trying again.
  Time waiting_retry_at() const { return waiting_retry_at_; }
  void retry_waiting_at(Time at) { waiting_retry_at_ = std::min(waiting_retry_at_, at); }
  void forget_waiting_retry() { waiting_retry_at_ = kNever; }

 private:
  std::map<SessionId, std::unique_ptr<Session>> sessions_;
  std::unordered_map<SessionId, Session*> by_id_;             // never iterated
  std::unordered_map<ConnectionId, Session*> by_connection_;  // never iterated
  std::map<std::string, SessionId, std::less<>> by_name_;
  std::uint64_t next_number_ = 0;  // of a name that is given out, unless the session's own is higher
  std::vector<SessionId> dirty_;
  std::vector<SessionId> waiting_;
  Time waiting_retry_at_ = kNever;
};

}  // namespace spindled
