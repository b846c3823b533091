// Runs in processes of their own: a check that fails in one of them is a finding, not the end of the hunt.
#pragma once

#include <functional>

#include "tests/hunt/outcome.h"
#include "tests/hunt/plan.h"
#include "tests/hunt/run.h"

namespace spindled::hunt {

using SeedWork = std::function<Outcome(std::uint64_t seed)>;
using SeedDone = std::function<void(std::uint64_t seed, const Outcome& outcome)>;

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = 1;
};

/// Seconds of a processor after which a run is taken to hang; most take a tenth of one.
inline constexpr int kHangSeconds = 60;

struct Workers {
  std::size_t count = 1;
  int hang_seconds = kHangSeconds;
};

/// Has `work` done for all seeds by so many processes and calls `done` here for each, in the order in which they end. A
/// seed whose process dies, or hangs, fails; the others go on. `idle` is called in between, at
/// least once a second.
void run_seeds(
    Seeds seeds, const Workers& workers, const SeedWork& work, const SeedDone& done,
    const std::function<void()>& idle = [] {});

/// `run` in a process of its own.
Outcome run_apart(const Plan& plan, const RunOptions& options = {}, int hang_seconds = kHangSeconds);

}  // namespace spindled::hunt
