// What a lossy path carries without Spindle.
#pragma once

#include "bench/sim/scenarios/scenario.h"

namespace spindled::scenarios {

/// Bits a second that one stream which always has something to send carries over this path, in the mean over ten
/// minutes of virtual time after the first: what its congestion control and its capacity allow.
double tcp_alone(const Path& path, std::size_t receive_window);

}  // namespace spindled::scenarios
