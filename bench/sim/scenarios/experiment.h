// Experiments in the simulator: each is run by name, and gives figures that are held to marks, and a table for plots.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/scenarios/figures.h"

namespace spindled::scenarios {

struct ExperimentOptions {
  std::uint64_t seed = 1;
  /// Of the sizes and times that experiments should have. Marks are for 1; which hold for less, the experiments say.
  double share = 1;
};

/// Rows for a CSV file.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct ExperimentOutcome {
  std::string name;
  std::string error;            // why there is nothing to see; empty if all is well
  std::vector<Figure> figures;  // what is held to a mark, and what is beside it
  Table table;
  double cpu_seconds = 0;

  bool is_ok() const;
};

/// Rows of the table of figures, which are shares unless `unit` says otherwise.
Figure at_least(std::string what, std::string paper, double mark, double ours, std::string_view unit = "");
Figure at_most(std::string what, std::string paper, double mark, double ours, std::string_view unit = "");
Figure between(std::string what, std::string paper, double least, double most, double ours);
/// Held to no mark.
Figure beside(std::string what, std::string paper, std::string ours);

/// Of this thread.
double thread_cpu_seconds();

/// The outcome that `run` gives, with its name, and the time that it took.
template <typename Outcome>
Outcome run_named(const std::string& name, const std::function<Outcome()>& run) {
  const double start = thread_cpu_seconds();
  Outcome outcome = run();
  outcome.name = name;
  for (Figure& figure : outcome.figures) figure.scenario = name;
  outcome.cpu_seconds = thread_cpu_seconds() - start;
  return outcome;
}

}  // namespace spindled::scenarios
