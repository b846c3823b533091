// scenario_grid: what admission makes of bottlenecks of any speed, on the simulator with the daemon's own code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "bench/sim/scenarios/cell_options.h"
#include "bench/sim/scenarios/grid.h"
#include "bench/sim/scenarios/run_each.h"

namespace spindled::scenarios {
namespace {

int run(CellOptions& options, bool whole, bool lossy) {
  std::vector<Cell> cells = lossy ? lossy_cells() : whole || !options.only.empty() ? all_cells() : some_cells();
  if (const std::optional<int> status = options.choose(cells, "scenario_grid")) return *status;
  std::vector<Scenario> scenarios;
  for (const Cell& cell : cells) scenarios.push_back(scenario_of(cell, options.admission));
  std::vector<CellOutcome> outcomes(cells.size());
  run_each(scenarios, options.seed, options.jobs,
           [&](std::size_t index, const Result& result) { outcomes[index] = outcome_of(cells[index], result); });
  fmt::print("{}", table_of(outcomes));
  if (!options.output.empty()) {
    std::ofstream(options.output / "grid.csv") << csv_of(outcomes);
    std::ofstream(options.output / "grid.json") << json_of(options.seed, outcomes);
  }
  return options.status_of(outcomes);
}

}  // namespace
}  // namespace spindled::scenarios

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  CellOptions options;
  bool whole = false, lossy = false;
  CLI::App app("What admission makes of bottlenecks of any speed, on the simulator", "scenario_grid");
  options.add_to(app);
  app.add_flag("--whole", whole, "All cells instead of a few");
  app.add_flag("--lossy", lossy, "Cells whose bottleneck loses packets instead, with Reno and CUBIC");
  CLI11_PARSE(app, argc, argv);
  return run(options, whole, lossy);
}
