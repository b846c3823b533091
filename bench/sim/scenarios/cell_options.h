// The options of programs that run many cells.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/scenarios/output_folder.h"
#include "bench/sim/scenarios/settings.h"
#include "daemon/base/node_config.h"

namespace spindled::scenarios {

struct CellOptions {
  std::vector<std::string> only;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  std::filesystem::path output;  // a folder; empty: no files
  bool check = false;
  bool list = false;
  AdmissionConfig admission;

  /// The options fill in this object, which outlives `app`.
  void add_to(CLI::App& app);
  /// Leaves the cells that are to be run, and makes the folder for what they measure. The status to end with at once,
  /// if there is one: a constant cannot be set, nothing is left or there can be no folder, which is said on standard
  /// error, or the cells were only to be named.
  template <typename Cell>
  std::optional<int> choose(std::vector<Cell>& cells, const char* program);
  /// The status to end with.
  template <typename Outcome>
  int status_of(const std::vector<Outcome>& outcomes) const {
    const bool all_ok = std::all_of(outcomes.begin(), outcomes.end(), [](const auto& each) { return each.is_ok(); });
    return check && !all_ok ? 1 : 0;
  }
  /// Whether a cell of this name is to be run.
  bool wants(const std::string& name) const;
};

template <typename Cell>
std::optional<int> CellOptions::choose(std::vector<Cell>& cells, const char* program) {
  if (!set_all(admission, settings, program)) return 2;
  std::erase_if(cells, [&](const Cell& cell) { return !wants(cell.name()); });
  if (cells.empty()) {
    fmt::print(stderr, "{}: there is no such cell; --list names all\n", program);
    return 2;
  }
  if (list) {
    for (const Cell& cell : cells) fmt::print("{}\n", cell.name());
    return 0;
  }
  if (!make_output_folder(output, program)) return 2;
  return std::nullopt;
}

}  // namespace spindled::scenarios
