// Whether what a quota bounds is given back.
#pragma once

#include <vector>

#include "tests/hunt/outcome.h"
#include "tests/sim/simulator.h"

namespace spindled::hunt {

/// At rest it is known how many connections each identity has at each daemon: one more is let in exactly where the
/// quota of the rules of then has room. All daemons run.
std::vector<Finding> probe_quotas(sim::Simulator& sim);

}  // namespace spindled::hunt
