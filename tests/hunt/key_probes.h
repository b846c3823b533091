// Strangers who want sessions that are not theirs.
#pragma once

#include <vector>

#include "tests/hunt/outcome.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

/// For each session that can be taken up: somebody who knows all of it but one bit of the secret asks for it. What is
/// found is that one was let.
std::vector<Finding> probe_keys(sim::Simulator& sim);

}  // namespace spindled::hunt
