// The experiments of Bullet (Kostić, Rodriguez, Albrecht and Vahdat, SOSP 2003, section 4) with the daemon's own code
// for the mesh, on a simulated network of routers.
#pragma once

#include "bench/sim/scenarios/experiment_program.h"

namespace spindled::scenarios::mesh {

/// Those that take the longest come last. Marks are for a share of 1: that of routers, receivers and seconds.
const std::vector<NamedExperiment>& experiments();

}  // namespace spindled::scenarios::mesh
