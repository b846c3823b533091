#include "tests/sim/cluster.h"

#include <algorithm>
#include <cmath>

namespace spindled::sim {

namespace {

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

Edges grid(std::size_t size) {
  const auto width = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(size))));
  Edges edges;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % width != width - 1 && i + 1 < size) edges.emplace_back(i, i + 1);
    if (i + width < size) edges.emplace_back(i, i + width);
  }
  return edges;
}

Edges random_graph(std::size_t size, Random& random) {
  Edges edges;
  for (std::size_t i = 1; i < size; ++i) edges.emplace_back(random.below(i), i);
  // Half as many links again, where they are not there yet.
  for (std::size_t i = 0; i < size / 2; ++i) {
    const std::size_t a = random.below(size);
    const std::size_t b = random.below(size);
    const std::pair edge(std::min(a, b), std::max(a, b));
    if (a != b && std::find(edges.begin(), edges.end(), edge) == edges.end()) edges.push_back(edge);
  }
  return edges;
}

}  // namespace

std::string_view to_string(Shape shape) {
  constexpr std::string_view kNames[] = {"line", "ring", "star", "grid", "random", "full"};
  return kNames[static_cast<std::size_t>(shape)];
}

Edges edges_of(Shape shape, std::size_t size, Random& random) {
  Edges edges;
  switch (shape) {
    case Shape::line:
    case Shape::ring:
      for (std::size_t i = 1; i < size; ++i) edges.emplace_back(i - 1, i);
      if (shape == Shape::ring && size > 2) edges.emplace_back(0, size - 1);
      return edges;
    case Shape::star:
      for (std::size_t i = 1; i < size; ++i) edges.emplace_back(0, i);
      return edges;
    case Shape::grid:
      return grid(size);
    case Shape::full:
      for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = a + 1; b < size; ++b) edges.emplace_back(a, b);
      }
      return edges;
    case Shape::random:
      return random_graph(size, random);
  }
  return edges;
}

Edges build_cluster(Simulator& simulator, const ClusterOptions& options) {
  Random random = simulator.random().split();
  simulator.network().set_default_path(options.path);
  std::vector<NodeConfig> configs(options.size, options.node);
  for (std::size_t i = 0; i < options.size; ++i) {
    configs[i].name = fmt::format("d{:03}", i);
    // Where they are to have one it is their own.
    if (!configs[i].bulk.address.empty()) configs[i].bulk.address = Simulator::address_of(configs[i].name);
  }
  const Edges edges = edges_of(options.shape, options.size, random);
  for (const auto& [a, b] : edges) {
    const std::uint64_t who = random.below(3);
    if (who != 1) configs[a].link.neighbours.push_back({.address = Simulator::address_of(configs[b].name)});
    if (who != 0) configs[b].link.neighbours.push_back({.address = Simulator::address_of(configs[a].name)});
  }
  const auto spread = static_cast<std::uint64_t>(options.start_spread.count());
  for (NodeConfig& config : configs) {
    SimHost& host = simulator.add_host(std::move(config));
    simulator.after(Duration(static_cast<Duration::rep>(random.below(spread + 1))), [&host] {
      if (!host.is_running()) host.start();
    });
  }
  return edges;
}

}  // namespace spindled::sim
