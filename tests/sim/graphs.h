// Graphs of the kinds that papers on multicast simulate.
#pragma once

#include <vector>

#include "daemon/base/random.h"
#include "daemon/overlay/topology.h"

namespace spindled::sim {

/// Where a link is.
enum class EdgeKind : std::uint8_t { router, transit, transit_stub, stub, access };

/// Nodes and the links between them: the routers come first, then the source, then receivers.
struct Graph {
  std::size_t nodes = 0;
  std::vector<Edge> edges;      // sorted by (a, b); the weight is the time that a link takes
  std::vector<EdgeKind> kinds;  // of edges
  MemberIndex source = 0;
  std::vector<MemberIndex> receivers;

  std::size_t edge_of(MemberIndex a, MemberIndex b) const;
};

struct GraphDelays {
  /// Of a link between routers as long as the square that they lie in is wide; 0: all links take `access`.
  Duration across{};
  Duration access = 10ms;  // of a link to a source or receiver
};

/// `routers` of which each two have a link with that probability, and a source and receivers at routers that `places`
/// draws.
Graph random_graph(Random& random, Random& places, std::size_t routers, double probability, std::size_t receivers,
                   const GraphDelays& delays);
/// The source is the root, the receivers are the leaves, of which there are 2^height.
Graph binary_tree(unsigned height, const GraphDelays& delays);
/// One transit domain of 4 nodes, each of which has 3 stub domains of 8 nodes: 1x4x(1+3x8) nodes, as GT-ITM has them.
/// The source and receivers are at nodes of stubs. A stub is a quarter as wide as the transit domain.
Graph transit_stub_graph(Random& random, Random& places, std::size_t receivers, const GraphDelays& delays);

}  // namespace spindled::sim
