#include "tests/hunt/broken/found_seeds.h"

#include <fmt/format.h>

#include <fstream>

namespace spindled::hunt {

std::optional<FoundSeeds> read_found_seeds(const std::string& path) {
  std::ifstream file(path);
  FoundSeeds seeds;
  std::string name;
  for (std::uint64_t seed = 0; file >> name >> seed;) seeds[name] = seed;
  if (file.eof() && !file.bad()) return seeds;
  fmt::print(stderr, "hunt_broken: cannot read {}\n", path);
  return std::nullopt;
}

bool write_found_seeds(const std::string& path, const FoundSeeds& seeds) {
  std::ofstream file(path);
  for (const auto& [name, seed] : seeds) file << fmt::format("{} {}\n", name, seed);
  file.close();
  if (file.fail()) fmt::print(stderr, "hunt_broken: cannot write {}\n", path);
  return !file.fail();
}

}  // namespace spindled::hunt
