// What was measured, as text and as files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/sim/scenarios/figures.h"

namespace spindled::scenarios {

/// Every phase of a run in a few lines.
std::string summary_of(const Result& result);
/// Paper, what must be reached, ours.
std::string table_of(const std::vector<Figure>& figures);

/// links-ID.csv, rates-ID.csv and clients-ID.csv for each result, and results.json, in a folder that is there.
void write_files(const std::filesystem::path& folder, std::uint64_t seed, const std::vector<Result>& results,
                 const std::vector<Figure>& figures);

}  // namespace spindled::scenarios
