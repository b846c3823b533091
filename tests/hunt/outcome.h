// What a run has shown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/base/counters.h"

namespace spindled::hunt {

struct Finding {
  std::string property;  // what was broken; a plan is shrunk as long as the same one is
  std::string sentence;

  bool operator==(const Finding&) const = default;
};

/// Counts and maxima by name, over one run or many.
struct Tally {
  std::map<std::string, std::uint64_t> counts;
  std::map<std::string, std::uint64_t> largest;

  void add(const std::string& name, std::uint64_t amount = 1) { counts[name] += amount; }
  void raise(const std::string& name, std::uint64_t value) {
    std::uint64_t& most = largest[name];
    most = value > most ? value : most;
  }
  void merge(const Tally& other) {
    for (const auto& [name, amount] : other.counts) add(name, amount);
    for (const auto& [name, value] : other.largest) raise(name, value);
  }
  std::uint64_t count(const std::string& name) const {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }

  bool operator==(const Tally&) const = default;
};

/// Under what name the tally has what all daemons together have counted.
inline std::string counted(Counter counter) { return "counted." + std::string(to_string(counter)); }

struct Outcome {
  std::vector<Finding> findings;  // empty: all is well
  Tally tally;
  std::uint64_t digest = 0;  // of the simulation: equal for equal runs
  std::string explanation;   // for people, where there are findings and it was asked for

  bool failed() const { return !findings.empty(); }
};

/// Lines that `outcome_from_text` reads again.
std::string to_text(const Outcome& outcome);
/// `text` is what to_text gave; anything else gives a finding that says so.
Outcome outcome_from_text(std::string_view text);

}  // namespace spindled::hunt
