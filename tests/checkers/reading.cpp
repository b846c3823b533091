#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// Whoever holds most then, reading or not (docs/operations.md, "Memory").
bool is_beyond_memory(const Closed& closed) {
  return closed.text.find("more than all memory is used") != std::string::npos;
}

bool has_read_all(const ClientHistory& client, Time until) { return !client.slow_since || until < *client.slow_since; }

void check_ends(const ClientHistory& client, bool is_memory_scarce, Violations& violations) {
  for (const Time at : client.ends_untold) {
    if (!has_read_all(client, at)) continue;
    report(violations, fmt::format("reading: the daemon of {}, which reads all that comes, has ended its connection at "
                                   "{:.6f} s and not said why",
                                   client.name, to_seconds(at.time_since_epoch())));
  }
  if (client.policy != SlowPolicy::price || !client.is_closed()) return;
  const Event& end = client.events.back();
  const Closed& closed = std::get<Closed>(end.what);
  if (closed.code != static_cast<std::uint16_t>(Errc::slow_receiver) || !has_read_all(client, end.at)) return;
  if (is_memory_scarce && is_beyond_memory(closed)) return;
  report(violations, fmt::format("reading: {} reads all that comes, and was cut off: {}", client.name, closed.text));
}

/// However slowly it has read before: at rest it has read everything.
void check_taken(const ClientHistory& client, Violations& violations) {
  if (client.is_closed() || client.messages_untaken + client.bytes_unsent == 0) return;
  report(violations, fmt::format("reading: {} messages of {}, and {} bytes of requests, still wait for its daemon",
                                 client.messages_untaken, client.name, client.bytes_unsent));
}

}  // namespace

Violations check_reading(const History& history, bool at_rest) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    check_ends(client, history.is_memory_scarce, violations);
    if (at_rest) check_taken(client, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
