// The simulations of Light-Weight Multicast Services (Papadopoulos, Parulkar and Varghese, section IV) with the
// daemon's own code for feeds: how long repairs take, and whom they reach that has not asked for them.
#pragma once

#include "bench/sim/scenarios/experiment_program.h"

namespace spindled::scenarios::lms {

/// Those that take the longest come last. Marks are for a share of 1: that of the ten graphs, and of the ten placements
/// of receivers in each.
const std::vector<NamedExperiment>& experiments();

}  // namespace spindled::scenarios::lms
