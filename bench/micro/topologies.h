// Topologies for the benchmarks of routes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "daemon/base/random.h"
#include "daemon/overlay/topology.h"
#include "daemon/overlay/view.h"

namespace spindled::bench {

/// A random tree and, on top of it, as many edges again: about four links to a daemon.
inline Topology random_topology(std::size_t count) {
  Random random(count);
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t b = 1; b < count; ++b) pairs.emplace(random.below(b), b);
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t b = random.between(1, count - 1);
    pairs.emplace(random.below(b), b);
  }
  Topology topology;
  for (std::size_t i = 0; i < count; ++i) topology.members.push_back({fmt::format("d{:04}", i), 1});
  for (const auto& [a, b] : pairs) {
    topology.edges.push_back({static_cast<MemberIndex>(a), static_cast<MemberIndex>(b),
                              static_cast<std::uint32_t>(random.between(1, 20)), 100});
  }
  return topology;
}

}  // namespace spindled::bench
