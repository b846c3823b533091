#include "tests/hunt/rules_alarms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <string>

#include "tests/sim/admin_request.h"
#include "tests/sim/stranger.h"

namespace spindled::hunt {

namespace {

constexpr Duration kBound = 10s;

using Names = std::set<std::string>;

/// Nothing where the daemon does not answer.
std::optional<Names> others_with_other_rules(sim::Simulator& sim, sim::SimHost& host) {
  sim::Stranger administrator(sim.world(), host, Port::admin);
  spindle::admin::Request request;
  request.mutable_status();
  administrator.send(sim::admin_frame_of(request));
  std::optional<spindle::FrameHead> head;
  const auto has_answered = [&] {
    head = spindle::read_frame_head(administrator.received());
    return head && administrator.received().size() >= spindle::kFrameHeadBytes + head->length;
  };
  spindle::admin::Reply reply;
  if (!sim.run_until(has_answered, kBound)) return std::nullopt;
  const std::uint8_t* const body = administrator.received().data() + spindle::kFrameHeadBytes;
  if (!reply.ParseFromArray(body, static_cast<int>(head->length))) return std::nullopt;
  return Names(reply.status().other_rules().begin(), reply.status().other_rules().end());
}

}  // namespace

std::vector<Finding> check_rules_alarms(sim::Simulator& sim) {
  std::vector<Finding> findings;
  for (sim::SimHost* host : sim.hosts()) {
    Names others;
    for (sim::SimHost* other : sim.hosts()) {
      if (other->config().access.digest != host->config().access.digest) others.insert(other->name());
    }
    const std::optional<Names> told = others_with_other_rules(sim, *host);
    if (told == others) continue;
    findings.push_back(
        {"rules of others", fmt::format("rules of others: {} says that {} have other rules, and {} have", host->name(),
                                        fmt::join(told.value_or(Names()), ","), fmt::join(others, ","))});
  }
  return findings;
}

}  // namespace spindled::hunt
