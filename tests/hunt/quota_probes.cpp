#include "tests/hunt/quota_probes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/checkers/rules.h"

namespace spindled::hunt {

namespace {

constexpr Duration kBound = 10s;
constexpr char kName[] = "probe";

struct Probe {
  sim::SimClient* client = nullptr;
  bool has_room = false;
};

/// What one identity has at one daemon.
struct Use {
  sim::HostIndex host = 0;
  checkers::Identities identities;  // of a client that has it
  std::size_t connections = 0;
};

std::vector<Probe> start(sim::Simulator& sim) {
  std::map<std::pair<sim::HostIndex, std::string>, Use> uses;
  for (std::size_t i = 0; i < sim.client_count(); ++i) {
    const sim::SimClient& client = sim.client(i);
    const checkers::Identities& identities = client.history().identities;
    Use& use = uses[{client.host().index(), identities.empty() ? "" : identities.front()}];
    use.host = client.host().index();
    use.identities = identities;
    use.connections += client.is_closed() ? 0 : 1;
  }
  std::vector<Probe> probes;
  for (const auto& [key, use] : uses) {
    sim::SimHost& host = sim.host(use.host);
    const AccessConfig& rules = host.config().access;
    const std::size_t bound = checkers::quota_of(rules, use.identities).connections;
    if (bound == 0 || !checkers::rules_allow_name(rules, use.identities, kName)) continue;
    probes.push_back({&sim.add_client(host, fmt::format("{}{}", kName, probes.size()), {.identities = use.identities}),
                      use.connections < bound});
  }
  return probes;
}

}  // namespace

std::vector<Finding> probe_quotas(sim::Simulator& sim) {
  const std::vector<Probe> probes = start(sim);
  const auto are_answered = [&] {
    return std::all_of(probes.begin(), probes.end(),
                       [](const Probe& each) { return each.client->is_welcome() || each.client->is_closed(); });
  };
  std::vector<Finding> findings;
  if (!sim.run_until(are_answered, kBound)) findings.push_back({"quotas", "quotas: a client gets no answer"});
  for (const Probe& each : probes) {
    if (each.client->is_welcome() == each.has_room) continue;
    findings.push_back(
        {"quotas", fmt::format("quotas: a client of {} at {} is {}, and the quota has {}room",
                               fmt::join(each.client->history().identities, ","), each.client->host().name(),
                               each.has_room ? "turned away" : "let in", each.has_room ? "" : "no ")});
  }
  return findings;
}

}  // namespace spindled::hunt
