// Accepted connections whose handshake is not done, and those whose peers are yet to send a token: which of them may go
// on.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/base/time.h"

namespace spindled {

/// A handshake costs this host far more than it costs a stranger who asks for one. So few are under way at a time, for
/// each port and for each address, and the others wait in line, where they cost a descriptor and nothing else.
/// Addresses take turns: whoever opens many connections waits for its own.
class PendingHandshakes {
 public:
  static constexpr std::size_t kUnderWayMax = 256;            // of a port
  static constexpr std::size_t kUnderWayPerAddressMax = 16;   // of those
  static constexpr std::size_t kWaitingMax = 4096;            // of a port
  static constexpr std::size_t kWaitingPerAddressMax = 1024;  // of those
  /// For the handshake, and before that for the wait.
  static constexpr Duration kTime = 5s;

  /// `peer` is "192.0.2.1:4803". False where too many wait already.
  bool add(Time now, ConnectionId connection, Port port, const std::string& peer);
  /// One that may begin now; nothing where none waits that may.
  std::optional<ConnectionId> start_next(Time now, Port port);
  /// Its `peer`; null where it is not here.
  const std::string* find(ConnectionId connection) const;
  /// It is done, refused or gone. Gives its `peer`; nothing where it was not here.
  std::optional<std::string> remove(ConnectionId connection);
  /// Those that have had their time.
  std::vector<ConnectionId> overdue(Time now) const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Port port;
    std::string peer;
    Time until;
    bool is_under_way = false;
  };
  struct Line {
    std::deque<ConnectionId> connections;  // oldest first; may name some that are gone
    std::size_t waiting = 0;
    std::size_t under_way = 0;
    bool has_turn = false;
  };
  struct Lines {
    std::unordered_map<std::string, Line> by_host;
    std::deque<std::string> turns;  // hosts of which one may begin, in this order
    std::size_t waiting = 0;
    std::size_t under_way = 0;
  };

  static void give_turn(Lines& lines, const std::string& host, Line& line);

  std::unordered_map<ConnectionId, Entry> entries_;
  Lines lines_[kPorts];
};

}  // namespace spindled
