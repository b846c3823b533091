// What arrives at a node.
#pragma once

#include <algorithm>

#include "daemon/node/node.h"

namespace spindled::test {

/// `bytes` arrive on a connection that does not end meanwhile, in as many reads as it takes.
inline void arrive(Node& node, Time now, ConnectionId connection, ByteView bytes) {
  while (!bytes.empty()) {
    const std::span<std::uint8_t> space = node.read_space(connection);
    const std::size_t part = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), part, space.begin());
    node.handle_read(now, connection, part);
    bytes = bytes.subspan(part);
  }
}

}  // namespace spindled::test
