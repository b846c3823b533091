#include <fmt/format.h>

#include "tests/checkers/checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// What the budget allows in five seconds: so much may have been saved up.
constexpr std::uint64_t kToldAtOnceMax = 5 * 30'000 / 8;

}  // namespace

Violations check_peers(const History& history) {
  Violations violations;
  for (const PeerHistory& each : history.peers) {
    const std::string channel =
        fmt::format("{}@{}/{:x}", each.channel.number, each.channel.daemon, each.channel.incarnation);
    for (const std::string& wrong : each.wrong) {
      report(violations, fmt::format("peers: {} gives another daemon of {} {}", each.daemon, channel, wrong));
    }
    if (each.told_at_once > kToldAtOnceMax) {
      report(violations, fmt::format("peers: {} tells others {} bytes for the mesh of {} beyond its budget",
                                     each.daemon, each.told_at_once, channel));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
