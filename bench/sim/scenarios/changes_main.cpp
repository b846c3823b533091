// scenario_changes: how soon admission is right again when a bottleneck's capacity changes or a sender begins, on the
// simulator with the daemon's own code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "bench/sim/scenarios/cell_options.h"
#include "bench/sim/scenarios/change_report.h"
#include "bench/sim/scenarios/run_each.h"

namespace spindled::scenarios {
namespace {

int run(CellOptions& options) {
  std::vector<ChangeCell> cells = change_cells();
  if (const std::optional<int> status = options.choose(cells, "scenario_changes")) return *status;
  std::vector<Scenario> scenarios;
  for (const ChangeCell& cell : cells) scenarios.push_back(scenario_of(cell, options.admission));
  std::vector<ChangeOutcome> outcomes(cells.size());
  run_each(scenarios, options.seed, options.jobs, [&](std::size_t index, const Result& result) {
    outcomes[index] = outcome_of(cells[index], result);
    if (options.output.empty() || !result.error.empty()) return;
    write_series(options.output / fmt::format("series-{}.csv", cells[index].name()), result);
  });
  fmt::print("{}", table_of(outcomes));
  if (!options.output.empty()) {
    std::ofstream(options.output / "changes.csv") << csv_of(outcomes);
    std::ofstream(options.output / "changes.json") << json_of(options.seed, outcomes);
  }
  return options.status_of(outcomes);
}

}  // namespace
}  // namespace spindled::scenarios

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  CellOptions options;
  CLI::App app("How soon admission is right again after changes, on the simulator", "scenario_changes");
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
