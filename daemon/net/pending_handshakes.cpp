#include "daemon/net/pending_handshakes.h"

namespace spindled {

namespace {

std::string host_of(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

bool PendingHandshakes::add(Time now, ConnectionId connection, Port port, const std::string& peer) {
  Lines& lines = lines_[static_cast<std::size_t>(port)];
  const std::string host = host_of(peer);
  const auto known = lines.by_host.find(host);
  const std::size_t waiting_of_host = known == lines.by_host.end() ? 0 : known->second.waiting;
  if (lines.waiting >= kWaitingMax || waiting_of_host >= kWaitingPerAddressMax) return false;
  entries_.emplace(connection, Entry{port, peer, now + kTime});
  Line& line = lines.by_host[host];
  line.connections.push_back(connection);
  ++line.waiting;
  ++lines.waiting;
  give_turn(lines, host, line);
  return true;
}

std::optional<ConnectionId> PendingHandshakes::start_next(Time now, Port port) {
  Lines& lines = lines_[static_cast<std::size_t>(port)];
  while (lines.under_way < kUnderWayMax && !lines.turns.empty()) {
    const std::string host = std::move(lines.turns.front());
    lines.turns.pop_front();
    const auto found = lines.by_host.find(host);
    if (found == lines.by_host.end()) continue;
    Line& line = found->second;
    line.has_turn = false;
    while (!line.connections.empty()) {
      const ConnectionId next = line.connections.front();
      line.connections.pop_front();
      const auto entry = entries_.find(next);
      if (entry == entries_.end()) continue;
      entry->second.is_under_way = true;
      entry->second.until = now + kTime;
      --line.waiting;
      --lines.waiting;
      ++line.under_way;
      ++lines.under_way;
      give_turn(lines, host, line);
      return next;
    }
  }
  return std::nullopt;
}

const std::string* PendingHandshakes::find(ConnectionId connection) const {
  const auto found = entries_.find(connection);
  return found == entries_.end() ? nullptr : &found->second.peer;
}

std::optional<std::string> PendingHandshakes::remove(ConnectionId connection) {
  const auto found = entries_.find(connection);
  if (found == entries_.end()) return std::nullopt;
  const Entry entry = std::move(found->second);
  entries_.erase(found);
  Lines& lines = lines_[static_cast<std::size_t>(entry.port)];
  const std::string host = host_of(entry.peer);
  Line& line = lines.by_host[host];
  --(entry.is_under_way ? line.under_way : line.waiting);
  --(entry.is_under_way ? lines.under_way : lines.waiting);
  if (line.waiting == 0 && line.under_way == 0) {
    lines.by_host.erase(host);
  } else {
    give_turn(lines, host, line);
  }
  return entry.peer;
}

std::vector<ConnectionId> PendingHandshakes::overdue(Time now) const {
  std::vector<ConnectionId> result;
  for (const auto& [connection, entry] : entries_) {
    if (entry.until <= now) result.push_back(connection);
  }
  return result;
}

void PendingHandshakes::give_turn(Lines& lines, const std::string& host, Line& line) {
  if (line.has_turn || line.waiting == 0 || line.under_way >= kUnderWayPerAddressMax) return;
  line.has_turn = true;
  lines.turns.push_back(host);
}

}  // namespace spindled
