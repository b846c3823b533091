#include <gtest/gtest.h>

#include "daemon/overlay/shortest_paths.h"
#include "tests/unit/overlay_graphs.h"

namespace spindled {
namespace {

using test::members;
using test::random_topology;
using Matrix = std::vector<std::vector<std::uint64_t>>;

constexpr std::uint64_t kFar = std::uint64_t{1} << 40;

/// The dumb model: all distances by Floyd and Warshall.
Matrix all_distances(const Topology& topology) {
  const std::size_t n = topology.members.size();
  Matrix distance(n, std::vector<std::uint64_t>(n, kFar));
  for (std::size_t i = 0; i < n; ++i) distance[i][i] = 0;
  for (const Edge& edge : topology.edges) {
    distance[edge.a][edge.b] = distance[edge.b][edge.a] =
        std::min<std::uint64_t>(distance[edge.a][edge.b], edge.weight);
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
    }
  }
  return distance;
}

std::vector<ShortestPaths> all_paths(const Topology& topology) {
  const Adjacency adjacency(topology.members.size(), topology.edges);
  std::vector<ShortestPaths> paths;
  for (std::size_t i = 0; i < topology.members.size(); ++i) paths.emplace_back(adjacency, static_cast<MemberIndex>(i));
  return paths;
}

TEST(ShortestPaths, DistancesAreThoseOfTheModel) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const Topology topology = random_topology(random, random.between(1, 30), random.real() * 0.4, 20);
    const Matrix distance = all_distances(topology);
    const auto paths = all_paths(topology);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (std::size_t j = 0; j < paths.size(); ++j) {
        const auto to = static_cast<MemberIndex>(j);
        ASSERT_TRUE(paths[i].reaches(to));
        EXPECT_EQ(paths[i].distance(to), distance[i][j]);
      }
      EXPECT_EQ(paths[i].eccentricity(), *std::max_element(distance[i].begin(), distance[i].end()));
    }
  }
}

/// Weights of 1 to 2 make many paths of equal weight. What each member looks up alone must fit together.
TEST(ShortestPaths, RoutesHopByHopAreShortestAndAgree) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const Topology topology =
        random_topology(random, random.between(2, 30), random.real() * 0.4, 1 + static_cast<std::uint32_t>(round % 2));
    const Matrix distance = all_distances(topology);
    const auto paths = all_paths(topology);
    const auto n = static_cast<MemberIndex>(paths.size());
    for (MemberIndex from = 0; from < n; ++from) {
      EXPECT_EQ(paths[from].next_hop(from), ShortestPaths::kNone);
      for (MemberIndex to = 0; to < n; ++to) {
        if (from == to) continue;
        MemberIndex before = from;
        std::uint64_t left = distance[from][to];
        for (MemberIndex at = paths[from].next_hop(to);; at = paths[at].next_hop(to)) {
          const std::uint64_t step = distance[before][at];
          ASSERT_GT(step, 0u);
          ASSERT_EQ(left, step + distance[at][to]) << "each hop comes nearer by its weight";
          left -= step;
          if (at == to) {
            // The way the relays took is the way that the origin has in mind.
            ASSERT_EQ(paths[from].predecessor(to), before);
            // And the way back is the same.
            ASSERT_EQ(paths[to].next_hop(from), before);
            break;
          }
          before = at;
        }
      }
    }
  }
}

TEST(ShortestPaths, AddsUpRoundTripsAlongThePath) {
  // 0 - 1 - 2 with weight 1 each; 0 - 2 directly with weight 5 and no delay.
  const std::vector<Edge> edges{{0, 1, 1, 100}, {0, 2, 5, 0}, {1, 2, 1, 30}};
  const ShortestPaths paths(Adjacency(3, edges), 0);
  EXPECT_EQ(paths.round_trip_us(2), 130u);
  EXPECT_EQ(paths.longest_round_trip_us(), 130u);
  EXPECT_EQ(paths.next_hop(2), 1);
}

TEST(ShortestPaths, LeavesOutWhatIsNotConnected) {
  const std::vector<Edge> edges{{0, 1, 1, 0}, {2, 3, 1, 0}};
  const ShortestPaths paths(Adjacency(4, edges), 0);
  EXPECT_TRUE(paths.reaches(1));
  EXPECT_FALSE(paths.reaches(2));
  EXPECT_EQ(paths.next_hop(3), ShortestPaths::kNone);
  EXPECT_EQ(paths.eccentricity(), UINT64_MAX);
}

TEST(ShortestPaths, SpreadsPathsOfEqualWeight) {
  // Two hubs between 20 members on each side: some pairs must take each hub.
  std::vector<Edge> edges;
  for (MemberIndex hub = 0; hub < 2; ++hub) {
    for (MemberIndex leaf = 2; leaf < 42; ++leaf) edges.push_back({hub, leaf, 1, 0});
  }
  const ShortestPaths paths(Adjacency(42, edges), 2);
  std::size_t over_first = 0;
  for (MemberIndex leaf = 3; leaf < 42; ++leaf) over_first += paths.next_hop(leaf) == 0 ? 1 : 0;
  EXPECT_GT(over_first, 0u);
  EXPECT_LT(over_first, 39u);
}

TEST(Sequencer, IsTheCentreByTheModel) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const Topology topology = random_topology(random, random.between(1, 30), random.real() * 0.3, 10);
    MemberIndex expected = 0;
    std::uint64_t smallest = kFar;
    const Matrix distance = all_distances(topology);
    for (std::size_t i = 0; i < distance.size(); ++i) {
      const std::uint64_t greatest = *std::max_element(distance[i].begin(), distance[i].end());
      if (greatest < smallest) {
        smallest = greatest;
        expected = static_cast<MemberIndex>(i);
      }
    }
    EXPECT_EQ(choose_sequencer(topology), expected);
  }
}

TEST(Sequencer, OfALineIsInTheMiddle) {
  for (const std::size_t count : {kExactSequencerMembersMax, std::size_t{1001}}) {
    Topology line{members(count), {}};
    for (std::size_t i = 0; i + 1 < count; ++i) {
      line.edges.push_back({static_cast<MemberIndex>(i), static_cast<MemberIndex>(i + 1), 1, 0});
    }
    EXPECT_EQ(choose_sequencer(line), (count - 1) / 2);
  }
}

/// The largest cluster that is asked for: two hubs with 800 leaves each.
TEST(Sequencer, OfTwoLargeStarsIsAHub) {
  Topology stars{members(1602), {{0, 1, 1, 0}}};
  for (MemberIndex leaf = 2; leaf < 802; ++leaf) stars.edges.push_back({0, leaf, 1, 0});
  for (MemberIndex leaf = 802; leaf < 1602; ++leaf) stars.edges.push_back({1, leaf, 1, 0});
  EXPECT_EQ(choose_sequencer(stars), 0);
  const ShortestPaths paths(Adjacency(stars.members.size(), stars.edges), 5);
  EXPECT_EQ(paths.eccentricity(), 3u);
  for (MemberIndex member = 0; member < 1602; ++member) {
    if (member != 5) {
      EXPECT_EQ(paths.next_hop(member), 0);
    }
  }
}

}  // namespace
}  // namespace spindled
