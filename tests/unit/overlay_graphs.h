// Random topologies for the tests of routes.
#pragma once

#include <fmt/format.h>

#include "daemon/base/random.h"
#include "daemon/overlay/topology.h"
#include "daemon/overlay/view.h"

namespace spindled::test {

inline std::vector<DaemonId> members(std::size_t count) {
  std::vector<DaemonId> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back({fmt::format("d{:04}", i), 100 + i});
  return ids;
}

/// Connected: a random tree, and each other edge with `density`. Weights are 1 to `weight_max`.
inline Topology random_topology(Random& random, std::size_t count, double density, std::uint32_t weight_max) {
  Topology topology{members(count), {}};
  for (std::size_t b = 1; b < count; ++b) {
    const std::size_t parent = random.below(b);
    for (std::size_t a = 0; a < b; ++a) {
      if (a != parent && !random.chance(density)) continue;
      topology.edges.push_back({static_cast<MemberIndex>(a), static_cast<MemberIndex>(b),
                                static_cast<std::uint32_t>(random.between(1, weight_max)),
                                static_cast<std::uint32_t>(random.below(1000))});
    }
  }
  std::sort(topology.edges.begin(), topology.edges.end(),
            [](const Edge& x, const Edge& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  return topology;
}

inline View view_of(const Topology& topology, MemberIndex self) {
  return {{1, topology.members.front().name}, topology.members, topology.edges, 0, self};
}

}  // namespace spindled::test
