// The network below: its shape, how flows share it, and what trees and the mesh make of a small one.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/sim/underlay/epidemics.h"
#include "tests/sim/underlay/mesh_dissemination.h"

namespace spindled::sim::underlay {
namespace {

TEST(UnderlayTopology, HasWaysBothWays) {
  const Topology topology(3, {.routers = 400, .participants = 30});
  for (Participant a = 0; a < 30; ++a) {
    for (Participant b = 0; b < 30; ++b) {
      const auto there = topology.path(a, b);
      auto back = topology.path(b, a);
      std::reverse(back.begin(), back.end());
      ASSERT_EQ(there.size(), back.size());
      for (std::size_t i = 0; i < there.size(); ++i) EXPECT_EQ(there[i], back[i] ^ 1u);
      if (a == b) continue;
      ASSERT_GE(there.size(), 3u);
      // From node to node, from one participant to the other.
      std::uint32_t at = 400u + a;
      for (const Pipe pipe : there) {
        const Link& link = topology.link_of(pipe);
        EXPECT_EQ(at, pipe % 2 == 0 ? link.a : link.b);
        at = pipe % 2 == 0 ? link.b : link.a;
      }
      EXPECT_EQ(at, 400u + b);
      EXPECT_EQ(topology.link_of(there.front()).place, LinkClass::client_stub);
      EXPECT_EQ(topology.link_of(there.back()).place, LinkClass::client_stub);
    }
  }
}

TEST(UnderlayTopology, IsTheSameForTheSameSeed) {
  const Topology a(5, {.routers = 300, .participants = 10}), b(5, {.routers = 300, .participants = 10});
  const Topology other(6, {.routers = 300, .participants = 10});
  EXPECT_EQ(a.path(1, 7), b.path(1, 7));
  EXPECT_EQ(a.links().back().bytes_per_s, b.links().back().bytes_per_s);
  EXPECT_NE(a.links().back().bytes_per_s, other.links().back().bytes_per_s);
}

TEST(UnderlayTopology, HasTheBandwidthsAndLossesOfThePaper) {
  Topology topology(1, {.routers = 3'000, .participants = 200});
  topology.set_bandwidths(kLowBandwidths);
  topology.set_losses(1);
  int lossy = 0;
  std::set<LinkClass> seen;
  for (const Link& link : topology.links()) {
    const Range& range = kLowBandwidths[static_cast<std::size_t>(link.place)];
    const double kbps = link.bytes_per_s * 8 / 1'000 * 1'500 / 1'448;
    EXPECT_GE(kbps, range.low - 1e-6);
    EXPECT_LE(kbps, range.high + 1e-6);
    lossy += link.loss >= 0.05 ? 1 : 0;
    EXPECT_TRUE(link.loss >= 0.05 || link.loss <= (link.place == LinkClass::transit_transit ? 0.001 : 0.003));
    EXPECT_LE(link.loss, 0.1);
    seen.insert(link.place);
  }
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_NEAR(lossy / static_cast<double>(topology.links().size()), 0.05, 0.01);
}

TEST(UnderlayFlows, ShareMaxMinFairly) {
  // Two flows over pipe 0, of which one also goes over pipe 1, where two more are; and one that wants little.
  const std::vector<Pipe> a{0}, b{0, 1}, c{1}, d{1};
  const std::vector<const std::vector<Pipe>*> ways{&a, &b, &c, &d};
  const double none = std::numeric_limits<double>::infinity();
  EXPECT_THAT(max_min(std::vector<double>{100, 30}, ways, std::vector<double>{none, none, none, none}),
              ::testing::ElementsAre(::testing::DoubleNear(90, 1e-9), ::testing::DoubleNear(10, 1e-9),
                                     ::testing::DoubleNear(10, 1e-9), ::testing::DoubleNear(10, 1e-9)));
  EXPECT_THAT(max_min(std::vector<double>{100, 30}, ways, std::vector<double>{none, none, 4, 40}),
              ::testing::ElementsAre(::testing::DoubleNear(87, 1e-9), ::testing::DoubleNear(13, 1e-9),
                                     ::testing::DoubleNear(4, 1e-9), ::testing::DoubleNear(13, 1e-9)));
}

TEST(UnderlayFlows, NoPipeCarriesMoreThanItCan) {
  const Topology topology(2, {.routers = 500, .participants = 40});
  Random random(1);
  std::vector<std::vector<Pipe>> ways;
  for (int i = 0; i < 600; ++i) {
    const auto from = static_cast<Participant>(random.below(40));
    ways.push_back(topology.path(from, static_cast<Participant>((from + 1 + random.below(39)) % 40)));
  }
  std::vector<const std::vector<Pipe>*> pointers;
  std::vector<double> demands;
  for (const auto& way : ways) {
    pointers.push_back(&way);
    demands.push_back(random.chance(0.3) ? 500 + random.real() * 5'000 : 1e12);
  }
  std::vector<double> rates(topology.pipes());
  for (Pipe pipe = 0; pipe < rates.size(); ++pipe) rates[pipe] = topology.link_of(pipe).bytes_per_s;
  const auto shares = max_min(rates, pointers, demands);
  std::vector<double> carried(rates.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (const Pipe pipe : ways[i]) carried[pipe] += shares[i];
  }
  for (Pipe pipe = 0; pipe < rates.size(); ++pipe) EXPECT_LE(carried[pipe], rates[pipe] * (1 + 1e-6));
  // Each has what it wants, or a pipe that is full and in which nobody has more.
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (shares[i] >= demands[i] * (1 - 1e-6)) continue;
    bool is_limited = false;
    for (const Pipe pipe : ways[i]) {
      bool is_most = carried[pipe] >= rates[pipe] * (1 - 1e-6);
      for (std::size_t other = 0; other < ways.size() && is_most; ++other) {
        is_most = std::find(ways[other].begin(), ways[other].end(), pipe) == ways[other].end() ||
                  shares[other] <= shares[i] * (1 + 1e-6);
      }
      is_limited = is_limited || is_most;
    }
    EXPECT_TRUE(is_limited) << i;
  }
}

TEST(UnderlayFlows, TcpSlowsDownWithLossAndDistance) {
  EXPECT_EQ(tcp_rate(0, 0.1), std::numeric_limits<double>::infinity());
  // 1.22 segments of 1,448 bytes in a round trip, over the root of the loss, where that is small.
  EXPECT_NEAR(tcp_rate(0.0001, 0.1), 1'448 * 1.2247 / 0.1 / 0.01, 2'000);
  EXPECT_LT(tcp_rate(0.05, 0.1), tcp_rate(0.01, 0.1) / 2);
  for (const double loss : {0.001, 0.01, 0.1}) EXPECT_NEAR(loss_at(tcp_rate(loss, 0.1), 0.1) / loss, 1, 0.01);
}

TEST(UnderlayTrees, HaveEverybodyOnce) {
  const Topology topology(4, {.routers = 500, .participants = 60});
  for (const Tree& tree : {random_tree(1, 60, 5), bottleneck_tree(topology, 0)}) {
    EXPECT_EQ(tree.subtree(0).size(), 60u);
    for (std::size_t i = 1; i < 60; ++i) EXPECT_TRUE(tree.parents[i]);
  }
  const Tree random = random_tree(1, 60, 5);
  for (const auto& children : random.children) EXPECT_LE(children.size(), 5u);
}

double mean_kbps(OverlayNet& net, std::size_t receivers, std::size_t from_s, std::size_t to_s) {
  double sum = 0;
  for (std::size_t second = from_s; second < to_s; ++second) {
    for (std::size_t i = 1; i <= receivers; ++i) sum += net.meter().useful(second, static_cast<Participant>(i));
  }
  return sum * net.symbol_bytes() * 8 / 1'000 / static_cast<double>(receivers * (to_s - from_s));
}

class SmallNetwork : public ::testing::Test {
 protected:
  static constexpr std::size_t kMembers = 61;
  static constexpr double kSymbolBytes = 2'048;

  double tree(const Tree& tree, Transport transport) {
    OverlayNet net(topology, kSymbolBytes, transport);
    TreeStream stream(net, tree, 600e3 / 8 / kSymbolBytes);
    net.run_until(Time(100s), stream);
    return mean_kbps(net, kMembers - 1, 60, 100);
  }
  MeshSettings settings() const {
    MeshSettings settings;
    settings.symbols_per_s = 600e3 / 8 / kSymbolBytes;
    settings.source_symbols = 256;
    settings.member.symbol_bytes = kSymbolBytes;
    return settings;
  }

  const Topology topology{7, {.routers = 1'000, .participants = kMembers}};
  const Tree random = random_tree(7, kMembers, 10);
};

TEST_F(SmallNetwork, MeshCarriesMoreThanItsTree) {
  const double alone = tree(random, Transport::tcp);
  OverlayNet net(topology, kSymbolBytes, Transport::tcp);
  MeshDissemination mesh(net, random, settings());
  net.run_until(Time(100s), mesh);
  const double with_mesh = mean_kbps(net, kMembers - 1, 60, 100);
  EXPECT_LT(alone, 250);
  EXPECT_GT(with_mesh, 2 * alone);
  EXPECT_LE(with_mesh, 601);
  // What is here was given by the source, and all of it is there once.
  double raw = 0, useful = 0;
  for (std::size_t second = 0; second < 100; ++second) {
    raw += static_cast<double>(net.meter().raw(second));
    for (std::size_t i = 1; i < kMembers; ++i) useful += net.meter().useful(second, static_cast<Participant>(i));
  }
  EXPECT_LT(1 - useful / raw, 0.05);
}

TEST_F(SmallNetwork, MeshSurvivesTheLossOfAChildOfTheRoot) {
  OverlayNet net(topology, kSymbolBytes, Transport::tcp);
  MeshDissemination mesh(net, random, settings());
  net.run_until(Time(80s), mesh);
  const Participant failing = random.children[0].front();
  const auto orphans = random.children[failing];
  ASSERT_FALSE(orphans.empty());
  mesh.kill(net.now(), failing);
  net.run_until(Time(140s), mesh);
  for (const Participant orphan : orphans) {
    double symbols = 0;
    for (std::size_t second = 100; second < 140; ++second) symbols += net.meter().useful(second, orphan);
    EXPECT_GT(symbols * kSymbolBytes * 8 / 1'000 / 40, 150) << orphan;
  }
}

TEST_F(SmallNetwork, RunsAreTheSameForTheSameSeed) {
  const auto run = [&] {
    OverlayNet net(topology, kSymbolBytes, Transport::tcp);
    MeshDissemination mesh(net, random, settings());
    net.run_until(Time(30s), mesh);
    std::vector<std::uint32_t> symbols;
    for (std::size_t i = 1; i < kMembers; ++i) symbols.push_back(net.meter().useful(29, static_cast<Participant>(i)));
    return symbols;
  };
  EXPECT_EQ(run(), run());
}

TEST_F(SmallNetwork, TfrcLosesWhereItIsLimited) {
  const Tree offline = bottleneck_tree(topology, 0);
  EXPECT_LT(tree(random, Transport::tfrc), tree(random, Transport::tcp));
  EXPECT_GT(tree(offline, Transport::tcp), 2 * tree(random, Transport::tcp));
}

TEST_F(SmallNetwork, EpidemicsDeliverAndRepeat) {
  const EpidemicSettings epidemic{.symbols_per_s = 600e3 / 8 / kSymbolBytes};
  OverlayNet net(topology, kSymbolBytes, Transport::tfrc);
  Gossip gossip(net, 0, kMembers, epidemic);
  net.run_until(Time(60s), gossip);
  const double useful = mean_kbps(net, kMembers - 1, 30, 60);
  double raw = 0;
  for (std::size_t second = 30; second < 60; ++second) raw += static_cast<double>(net.meter().raw(second));
  raw *= kSymbolBytes * 8 / 1'000 / 30 / (kMembers - 1);
  EXPECT_GT(useful, 50);
  EXPECT_GT(raw, 1.5 * useful);

  OverlayNet other(topology, kSymbolBytes, Transport::tfrc);
  AntiEntropy anti_entropy(other, random, epidemic);
  other.run_until(Time(100s), anti_entropy);
  EXPECT_GT(mean_kbps(other, kMembers - 1, 60, 100), tree(random, Transport::tfrc));
}

TEST(RecentSymbols, RememberTheLast) {
  RecentSymbols recent;
  EXPECT_TRUE(recent.insert(3));
  EXPECT_FALSE(recent.insert(3));
  EXPECT_TRUE(recent.insert(1));
  EXPECT_FALSE(recent.has(2));
  EXPECT_TRUE(recent.insert(3 + RecentSymbols::kWindow));
  EXPECT_FALSE(recent.insert(3)) << "it is too old";
  EXPECT_FALSE(recent.has(4 + RecentSymbols::kWindow));
}

}  // namespace
}  // namespace spindled::sim::underlay
