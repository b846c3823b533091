#include <fmt/format.h>

#include <map>
#include <string_view>

#include "tests/checkers/checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

/// What a client that has closed knows of its end can be late: the daemon may have given it up long before. One that
/// never closed was there all the time.
Violations check_names(const History& history) {
  Violations violations;
  std::map<std::string_view, const ClientHistory*> open;  // that never closed, by name
  for (const ClientHistory& client : history.clients) {
    if (client.is_closed()) continue;
    if (!open.emplace(client.name, &client).second)
      report(violations, fmt::format("names: two clients are called {} in the end", client.name));
  }
  for (const ClientHistory& client : history.clients) {
    const auto owner = open.find(client.name);
    if (owner == open.end() || client.since <= owner->second->since) continue;
    report(violations, fmt::format("names: a client was called {} while another one was", client.name));
  }
  return violations;
}

}  // namespace spindled::checkers
