// What was measured of changes, as text and as files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/sim/scenarios/change_figures.h"

namespace spindled::scenarios {

/// A line for each step, flaps taken together: measured, must reach, and what falls short.
std::string table_of(const std::vector<ChangeOutcome>& outcomes);
std::string csv_of(const std::vector<ChangeOutcome>& outcomes);
std::string json_of(std::uint64_t seed, const std::vector<ChangeOutcome>& outcomes);
/// The bottleneck of a cell over time, in a thousand lines or so: seconds, its capacity, what passed it, its queue.
void write_series(const std::filesystem::path& file, const Result& result);

}  // namespace spindled::scenarios
