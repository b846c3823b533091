// Clusters of well-known shapes.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/simulator.h"

namespace spindled::sim {

enum class Shape : std::uint8_t { line, ring, star, grid, random, full };
/// Those that are drawn from.
inline constexpr Shape kShapes[] = {Shape::line, Shape::ring, Shape::star, Shape::grid, Shape::random};

std::string_view to_string(Shape shape);

/// The links of a connected graph of `size` nodes; the grid is as square as `size` allows, with a shorter last row.
std::vector<std::pair<std::size_t, std::size_t>> edges_of(Shape shape, std::size_t size, Random& random);

struct ClusterOptions {
  Shape shape = Shape::line;
  std::size_t size = 3;
  PathProperties path;
  NodeConfig node;                // what all daemons share; name and neighbours are filled in
  Duration start_spread = 100ms;  // each daemon starts at a drawn time within this
};

/// Adds the hosts d000, d001, ... with links of `shape`, each dialled by one end or by both, and has them start.
/// Returns the links.
std::vector<std::pair<std::size_t, std::size_t>> build_cluster(Simulator& simulator, const ClusterOptions& options);

}  // namespace spindled::sim
