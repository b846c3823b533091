// Which seed has shown each broken variant before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace spindled::hunt {

/// By the variant's name. Whoever tries its seed first need not go through all the seeds before that one; a change of
/// the daemon or of what the hunt draws can outdate it.
using FoundSeeds = std::map<std::string, std::uint64_t>;

/// A name and a seed on each line. Nothing where the file cannot be read, which standard error tells.
std::optional<FoundSeeds> read_found_seeds(const std::string& path);
bool write_found_seeds(const std::string& path, const FoundSeeds& seeds);

}  // namespace spindled::hunt
