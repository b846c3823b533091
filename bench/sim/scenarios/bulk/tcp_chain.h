// What plain TCP makes of the same paths.
#pragma once

#include <vector>

#include "bench/sim/scenarios/bulk/hops.h"

namespace spindled::scenarios::bulk {

/// A chain of TCP streams, one on each hop, whose first host always has something to send and whose others pass on what
/// they read, in order. None reads more than `buffer_bytes` ahead of what its next stream takes: so all wait for the
/// slowest. Gives the bits a second that each host but the first reads, in the mean over `measured` after `before`.
std::vector<double> tcp_chain(const std::vector<Hop>& hops, std::size_t buffer_bytes, Duration before,
                              Duration measured, std::uint64_t seed);

}  // namespace spindled::scenarios::bulk
