// scenario_bulk: what bulk channels make of paths, of who comes and of what fails, on the simulator with the daemon's
// and the client's own code. docs/performance.md says what the experiments are.
#include <mutex>

#include "bench/sim/scenarios/bulk/experiments.h"
#include "bench/sim/scenarios/experiment_program.h"

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  std::mutex mutex;
  std::vector<bulk::Cost> costs;
  ExperimentProgram program{
      .name = "scenario_bulk",
      .description = "What bulk channels make of paths, of who comes and of what fails, on the simulator",
      .results = "bulk",
      .experiments = {},
      .overall = [&] { return bulk::figures_of_cost(costs); },
  };
  for (const bulk::Experiment& each : bulk::experiments()) {
    program.experiments.push_back({each.name, each.title, [&](const ExperimentOptions& options) {
                                     bulk::Outcome outcome = bulk::run(each, options);
                                     const std::scoped_lock lock(mutex);
                                     costs.push_back(outcome.cost);
                                     return ExperimentOutcome(std::move(outcome));
                                   }});
  }
  return run_experiments(program, argc, argv);
}
