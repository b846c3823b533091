// Frames of feeds that a neighbour of a fuzzed node sends, of the view that the node is in.
#pragma once

#include <vector>

#include "daemon/node/node.h"
#include "tests/fuzz/fuzz.h"

namespace spindle_fuzz {

/// The frame that NodeStep::feed_frame says, with its head in a datagram.
std::vector<std::uint8_t> feed_frame(const spindled::Node& node, Input& input);

}  // namespace spindle_fuzz
