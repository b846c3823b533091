// scenario_lms: the simulations of Light-Weight Multicast Services, with the daemon's own code for feeds.
// docs/performance.md says what the experiments are.
#include "bench/sim/scenarios/lms/experiments.h"

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  return run_experiments(
      {.name = "scenario_lms",
       .description = "How feeds are repaired on the graphs of the paper on Light-Weight Multicast Services",
       .results = "lms",
       .experiments = lms::experiments()},
      argc, argv);
}
