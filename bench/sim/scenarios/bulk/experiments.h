// The experiments on bulk channels: those of the paper that relays follow, with its parameters (Kwon and Byers,
// Reliable Overlay Multicast with Loosely Coupled TCP Connections), and others about who comes, goes and fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sim/scenarios/experiment.h"
#include "tests/support/bulk_store.h"

namespace spindled::scenarios::bulk {

/// Marks are for a share of 1; but for those of chains of lossy hops, whose rates take long to have a mean, they hold
/// from a fifth on.
using Options = ExperimentOptions;

/// What contents took, over all runs of an experiment.
struct Cost {
  spindle::test::DecodingCounters decoding;
  std::size_t memory_max = 0;  // of a daemon

  void add(const Cost& other);
};

struct Outcome : ExperimentOutcome {
  Cost cost;
};

struct Experiment {
  std::string name;
  std::string title;  // for tables and plots
  Outcome (*run)(const Options& options);
};

/// Those that take the longest come last.
const std::vector<Experiment>& experiments();
/// With the time that it took.
Outcome run(const Experiment& experiment, const Options& options);

/// Of all that was run: what codes and daemons took.
std::vector<Figure> figures_of_cost(const std::vector<Cost>& costs);

}  // namespace spindled::scenarios::bulk
