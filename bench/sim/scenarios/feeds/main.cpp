// scenario_feeds: what the rate of feeds makes of paths and listeners, and of TCP beside it, on simulated paths that
// carry packets. docs/performance.md says what the experiments are.
#include "bench/sim/scenarios/feeds/experiments.h"

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  return run_experiments({.name = "scenario_feeds",
                          .description = "What the rate of feeds makes of paths and listeners, and of TCP beside it",
                          .results = "feeds",
                          .experiments = feeds::experiments()},
                         argc, argv);
}
