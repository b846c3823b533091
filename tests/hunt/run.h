// Runs a plan and holds the run to every property.
#pragma once

#include "tests/hunt/outcome.h"
#include "tests/hunt/plan.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

struct RunOptions {
  LogLevel log_level = LogLevel::warning;
  bool log_echo = false;  // log lines to standard error as they come
  bool explain = false;   // fills in Outcome::explanation where something fails
};

/// Executes the plan, ends all faults, and then demands of the cluster that it comes to one view and to rest within
/// bounds of virtual time, that every daemon serves fresh members, and that what clients and daemons saw and what
/// daemons kept in memory was right all along. Deterministic: equal plans give equal outcomes.
Outcome run(const Plan& plan, const RunOptions& options = {});

}  // namespace spindled::hunt
