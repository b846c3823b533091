// What clients and neighbours of a fuzzed node send on its bulk connections, made so that it makes sense now and then.
#pragma once

#include <vector>

#include "daemon/node/node.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/node_neighbour.h"
#include "tests/fuzz/node_steps.h"

namespace spindle_fuzz {

constexpr bool is_bulk(NodeStep step) {
  return (step >= NodeStep::attach && step <= NodeStep::offer) ||
         (step >= NodeStep::bulk_mesh && step <= NodeStep::bulk_invitation);
}

/// The frames that a step has somebody send, which takes the rest of its arguments from `input`; none where it makes no
/// sense at the moment. Channels are the first two of the node and the first one of a neighbour, in blocks of 4
/// symbols.
std::vector<Bytes> bulk_frames(const spindled::Node& node, NodeStep step, Input& input);

}  // namespace spindle_fuzz
