// What the hunt tells at its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/hunt/outcome.h"

namespace spindled::hunt {

struct Summary {
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 0;
  double seconds = 0;
  Tally tally;
  std::map<std::string, std::uint64_t> sizes;  // runs by size of cluster
  struct Failure {
    std::uint64_t seed = 0;
    std::vector<Finding> findings;
  };
  std::vector<Failure> failures;

  void add(std::uint64_t seed, std::uint32_t daemons, const Outcome& outcome);
};

/// A table for people.
std::string to_text(const Summary& summary);
/// The same for programs: one JSON object.
std::string to_json(const Summary& summary);

}  // namespace spindled::hunt
