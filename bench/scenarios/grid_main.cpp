// scenario_grid: what admission makes of bottlenecks of any speed, on the simulator with the daemon's own code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <thread>

#include "bench/scenarios/grid.h"
#include "bench/scenarios/settings.h"

namespace spindled::scenarios {
namespace {

struct Arguments {
  std::vector<std::string> only;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  std::string output;
  bool whole = false;
  bool check = false;
  bool list = false;
  AdmissionConfig admission;
};

/// The longest first: none of them is to be left at the end.
std::vector<CellOutcome> run_all(const std::vector<Cell>& cells, const Arguments& arguments) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cells[a].bits_per_second * to_seconds(cells[a].length()) >
           cells[b].bits_per_second * to_seconds(cells[b].length());
  });
  std::vector<CellOutcome> outcomes(cells.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t taken = next++; taken < order.size(); taken = next++) {
      const Cell& cell = cells[order[taken]];
      std::atomic<double> progress = 0;
      const Result result = run(scenario_of(cell, arguments.admission), arguments.seed, progress);
      const std::scoped_lock lock(mutex);
      outcomes[order[taken]] = outcome_of(cell, result);
      fmt::print(stderr, "{} of {}: {}, {:.1f} s of processor\n", taken + 1, order.size(), cell.name(),
                 result.cpu_seconds);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::min(arguments.jobs, cells.size()); ++i) workers.emplace_back(work);
  }
  return outcomes;
}

int run(Arguments& arguments) {
  for (const std::string& setting : arguments.settings) {
    if (set(arguments.admission, setting)) continue;
    fmt::print(stderr, "scenario_grid: cannot set \"{}\"; there are\n  {}\n", setting,
               fmt::join(settings(arguments.admission), "\n  "));
    return 2;
  }
  std::vector<Cell> cells = arguments.whole || !arguments.only.empty() ? all_cells() : some_cells();
  if (!arguments.only.empty()) {
    std::erase_if(cells, [&](const Cell& cell) {
      const std::string name = cell.name();
      return std::none_of(arguments.only.begin(), arguments.only.end(),
                          [&](const std::string& part) { return name.find(part) != std::string::npos; });
    });
  }
  if (cells.empty()) {
    fmt::print(stderr, "scenario_grid: there is no such cell; --list names all\n");
    return 2;
  }
  if (arguments.list) {
    for (const Cell& cell : cells) fmt::print("{}\n", cell.name());
    return 0;
  }
  const std::vector<CellOutcome> outcomes = run_all(cells, arguments);
  fmt::print("{}", table_of(outcomes));
  if (!arguments.output.empty()) {
    const std::filesystem::path folder = arguments.output;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "grid.csv") << csv_of(outcomes);
    std::ofstream(folder / "grid.json") << json_of(arguments.seed, outcomes);
  }
  const bool all_ok = std::all_of(outcomes.begin(), outcomes.end(), [](const auto& each) { return each.is_ok(); });
  return arguments.check && !all_ok ? 1 : 0;
}

}  // namespace
}  // namespace spindled::scenarios

int main(int argc, char** argv) {
  using namespace spindled::scenarios;
  Arguments arguments;
  CLI::App app("What admission makes of bottlenecks of any speed, on the simulator", "scenario_grid");
  app.add_option("--only", arguments.only, "Cells whose names have one of these in them")->delimiter(',');
  app.add_flag("--whole", arguments.whole, "All cells instead of a few");
  app.add_flag("--list", arguments.list, "Name the cells, and run none");
  app.add_option("--seed", arguments.seed, "Draws when senders begin, and all that daemons draw");
  app.add_option("--set", arguments.settings, "A constant of admission, such as queue_time=10ms");
  app.add_option("--jobs", arguments.jobs, "How many cells run at once")->check(CLI::Range(1, 64));
  app.add_option("--output", arguments.output, "Folder for grid.json and grid.csv");
  app.add_flag("--check", arguments.check, "Fail where a figure falls short");
  CLI11_PARSE(app, argc, argv);
  return run(arguments);
}
