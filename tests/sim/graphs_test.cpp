// The graphs that papers simulate.
#include "tests/sim/graphs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/overlay/shortest_paths.h"

namespace spindled::sim {
namespace {

constexpr GraphDelays kDelays{50ms, 5ms};

std::size_t count(const Graph& graph, EdgeKind kind) {
  return static_cast<std::size_t>(std::count(graph.kinds.begin(), graph.kinds.end(), kind));
}

void expect_connected(const Graph& graph) {
  const ShortestPaths paths(Adjacency(graph.nodes, graph.edges), graph.source);
  for (std::size_t i = 0; i < graph.nodes; ++i) EXPECT_TRUE(paths.reaches(static_cast<MemberIndex>(i))) << i;
  EXPECT_EQ(graph.kinds.size(), graph.edges.size());
}

TEST(Graphs, RandomOnesHaveATenthOfTheLinks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const Graph graph = random_graph(random, random, 100, 0.1, 100, kDelays);
    EXPECT_EQ(graph.nodes, 201u);
    EXPECT_EQ(graph.receivers.size(), 100u);
    EXPECT_EQ(count(graph, EdgeKind::access), 101u);
    EXPECT_NEAR(static_cast<double>(count(graph, EdgeKind::router)), 495, 80);
    expect_connected(graph);
  }
}

TEST(Graphs, BinaryTreesHaveLeavesAtOneDistance) {
  for (unsigned height = 3; height <= 7; ++height) {
    const Graph graph = binary_tree(height, {0ms, 10ms});
    EXPECT_EQ(graph.receivers.size(), std::size_t{1} << height);
    EXPECT_EQ(graph.edges.size(), graph.nodes - 1);
    const ShortestPaths paths(Adjacency(graph.nodes, graph.edges), graph.source);
    for (const MemberIndex each : graph.receivers) EXPECT_EQ(paths.round_trip_us(each), height * 20'000u);
  }
}

TEST(Graphs, TransitStubOnesHaveReceiversInStubsOnly) {
  Random random(1);
  const Graph graph = transit_stub_graph(random, random, 100, kDelays);
  EXPECT_EQ(graph.nodes, 201u);
  EXPECT_EQ(count(graph, EdgeKind::transit_stub), 12u);
  EXPECT_GE(count(graph, EdgeKind::transit), 3u);
  EXPECT_GE(count(graph, EdgeKind::stub), 12u * 7u);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    if (graph.kinds[i] == EdgeKind::access) {
      EXPECT_GE(graph.edges[i].a, 4) << "a transit node";
    }
  }
  expect_connected(graph);
}

TEST(Graphs, OfOneSeedAreTheSame) {
  Random a(5), b(5);
  EXPECT_EQ(random_graph(a, a, 30, 0.2, 10, kDelays).edges, random_graph(b, b, 30, 0.2, 10, kDelays).edges);
}

}  // namespace
}  // namespace spindled::sim
