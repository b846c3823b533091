// Whether daemons notice that others have other rules than they.
#pragma once

#include <vector>

#include "tests/hunt/outcome.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

/// At rest each daemon says in its status which others have other rules, and of no others. All daemons run and reach
/// each other.
std::vector<Finding> check_rules_alarms(sim::Simulator& sim);

}  // namespace spindled::hunt
