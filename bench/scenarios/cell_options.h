// The options of programs that run many cells.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

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
  /// Sets the constants of admission that were asked for, or says on standard error which ones there are.
  [[nodiscard]] bool apply_settings(const char* program);
  /// Whether a cell of this name is to be run.
  bool wants(const std::string& name) const;
};

}  // namespace spindled::scenarios
