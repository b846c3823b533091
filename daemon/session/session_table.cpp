#include "daemon/session/session_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindled {

Session& SessionTable::add(std::unique_ptr<Session> session) {
  Session& added = *session;
  by_connection_[added.connection()] = by_id_[added.id()] = &added;
  sessions_[added.id()] = std::move(session);
  return added;
}

void SessionTable::forget(const Session& session) {
  by_connection_.erase(session.connection());
  by_id_.erase(session.id());
  sessions_.erase(session.id());
}

Session* SessionTable::find(ConnectionId connection) const {
  const auto at = by_connection_.find(connection);
  return at == by_connection_.end() ? nullptr : at->second;
}

Session* SessionTable::find(SessionId id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

Result<std::string> SessionTable::take_name(const Session& session, std::string_view wish) {
  std::string name(wish);
  if (name.empty()) {
    // Names of the form that is given out here may have been taken by wish, and those behind them with them: they are
    // not gone through for everybody who comes.
    for (next_number_ = std::max(next_number_, session.id());; ++next_number_) {
      name = fmt::format("c{}", next_number_);
      if (!by_name_.contains(name)) break;
    }
  }
  if (!spindle::is_client_name(name)) return fail(Errc::bad_client_name);
  if (!by_name_.emplace(name, session.id()).second) {
    return fail(Errc::name_in_use, fmt::format("a client named {} is connected to this daemon already", name));
  }
  return name;
}

void SessionTable::give_up_name(const Session& session) {
  const auto name = by_name_.find(session.name());
  if (name != by_name_.end() && name->second == session.id()) by_name_.erase(name);
}

std::optional<SessionId> SessionTable::find_client(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace spindled
