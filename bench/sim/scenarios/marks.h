// Figures that are held to marks, and rows for files, as programs of experiments print and write them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/scenarios/figures.h"

namespace spindled::scenarios {

/// Rows of the table. Figures are shares unless `unit` says otherwise.
Figure at_least(std::string what, std::string paper, double mark, double ours, std::string_view unit = "");
Figure at_most(std::string what, std::string paper, double mark, double ours, std::string_view unit = "");
/// Held to no mark.
Figure beside(std::string what, std::string paper, std::string ours);

/// Rows for a CSV file.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

void write_csv(const std::filesystem::path& file, const Table& table);
std::string json_of(const Figure& figure);

}  // namespace spindled::scenarios
