// Runs many scenarios on a few threads.
#pragma once

#include <functional>

#include "bench/sim/scenarios/run.h"

namespace spindled::scenarios {

/// Those that take the longest come first, so that none of them is left at the end. Each result goes to `done` with the
/// scenario's index, by one thread at a time. Says on standard error how far it is.
void run_each(const std::vector<Scenario>& scenarios, std::uint64_t seed, std::size_t threads,
              const std::function<void(std::size_t index, const Result& result)>& done);

}  // namespace spindled::scenarios
