// Runs a scenario in the simulator and says what was measured.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "bench/sim/scenarios/link_probe.h"

namespace spindled::scenarios {

struct ClientSeries {
  std::size_t traffic_class = 0;
  std::string daemon;
  std::vector<std::uint32_t> messages;  // delivered, in each bin
  Duration bin = kBin;                  // how long each of them is

  /// Messages a second in [from, to), in whole bins.
  double rate(Duration from, Duration to) const;
};

struct Result {
  Scenario scenario;
  std::string error;                  // why there is nothing to see; empty if all is well
  std::string log;                    // what may explain it
  std::vector<LinkSeries> links;      // as in Scenario::watched
  std::vector<LinkSeries> idle;       // the same links before anybody sends
  std::vector<ClientSeries> clients;  // as in Scenario::senders
  double cpu_seconds = 0;             // of the thread that ran it

  const LinkSeries& link(const Direction& direction) const;
};

inline constexpr Duration kIdle = 10s;

/// `progress` is set to the share of the run that is done.
Result run(const Scenario& scenario, std::uint64_t seed, std::atomic<double>& progress);

}  // namespace spindled::scenarios
