// When a view should change: differences of topologies, hold-downs, suspicions.
#include <gtest/gtest.h>

#include <set>

#include "daemon/base/random.h"
#include "daemon/overlay/view.h"
#include "daemon/view/held_back.h"
#include "daemon/view/participant.h"

namespace spindled {
namespace {

const DaemonId kA{"a", 1}, kB{"b", 1}, kC{"c", 1}, kD{"d", 1};
const Topology kAlone{{kA}, {}};
const Topology kPair{{kA, kB}, {{0, 1, 1, 0}}};
const Topology kLine{{kA, kB, kC}, {{0, 1, 1, 0}, {1, 2, 1, 0}}};
const Topology kRing{{kA, kB, kC}, {{0, 1, 1, 0}, {0, 2, 1, 0}, {1, 2, 1, 0}}};

bool nobody(const DaemonId&) { return false; }

TEST(TopologyDifference, NamesWhatCameAndWent) {
  EXPECT_EQ(difference(kLine, kLine), TopologyDifference());
  const TopologyDifference grown = difference(kPair, kLine);
  EXPECT_TRUE(grown.lost.empty());
  EXPECT_EQ(grown.gained, (std::vector<TopologyItem>{{"c", ""}, {"b", "c"}}));
  const TopologyDifference shrunk = difference(kLine, kPair);
  EXPECT_EQ(shrunk.lost, grown.gained);
  EXPECT_TRUE(shrunk.gained.empty());
}

TEST(TopologyDifference, EdgesAreComparedByName) {
  // Without a the indices of b, c and d shift; the links between them are the same.
  const Topology with{{kA, kB, kC, kD}, {{0, 1, 1, 0}, {1, 2, 1, 0}, {1, 3, 1, 0}, {2, 3, 1, 0}}};
  const Topology without{{kB, kC, kD}, {{0, 1, 1, 0}, {0, 2, 1, 0}, {1, 2, 5, 0}}};
  const TopologyDifference differs = difference(with, without);
  EXPECT_EQ(differs.lost, (std::vector<TopologyItem>{{"a", ""}, {"a", "b"}}));
  EXPECT_TRUE(differs.gained.empty());
  EXPECT_TRUE(differs.reweighed);
}

TEST(TopologyDifference, ARestartIsALossAndAGain) {
  const Topology restarted{{kA, {"b", 2}}, {{0, 1, 1, 0}}};
  const TopologyDifference differs = difference(kPair, restarted);
  EXPECT_EQ(differs.lost, (std::vector<TopologyItem>{{"b", ""}}));
  EXPECT_EQ(differs.gained, differs.lost);
}

TEST(Component, StopsAtTheExcluded) {
  const Topology ring{{kA, kB, kC, kD}, {{0, 1, 1, 0}, {0, 3, 4, 0}, {1, 2, 2, 0}, {2, 3, 3, 0}}};
  EXPECT_EQ(component_of(ring, kC, nobody), ring);
  const auto without_b = [](const DaemonId& daemon) { return daemon == kB; };
  EXPECT_EQ(component_of(ring, kA, without_b), (Topology{{kA, kC, kD}, {{0, 2, 4, 0}, {1, 2, 3, 0}}}));
  EXPECT_EQ(component_of(kLine, kA, without_b), kAlone);
}

TEST(Component, AgreesWithARepeatedSweep) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    Topology topology;
    const std::size_t size = 1 + random.below(12);
    for (std::size_t i = 0; i < size; ++i) topology.members.push_back({std::string(1, char('a' + i)), i});
    for (MemberIndex a = 0; a < size; ++a) {
      for (MemberIndex b = static_cast<MemberIndex>(a + 1); b < size; ++b) {
        if (random.chance(0.15)) topology.edges.push_back({a, b, 1, 0});
      }
    }
    std::set<std::string> excluded;
    for (std::size_t i = 1; i < size; ++i) {
      if (random.chance(0.2)) excluded.insert(topology.members[i].name);
    }
    std::set<std::size_t> reached{0};
    for (std::size_t sweep = 0; sweep < size; ++sweep) {
      for (const Edge& edge : topology.edges) {
        const bool closed =
            excluded.contains(topology.members[edge.a].name) || excluded.contains(topology.members[edge.b].name);
        if (!closed && (reached.contains(edge.a) || reached.contains(edge.b))) reached.insert({edge.a, edge.b});
      }
    }
    const Topology component = component_of(topology, topology.members[0],
                                            [&](const DaemonId& daemon) { return excluded.contains(daemon.name); });
    ASSERT_EQ(component.members.size(), reached.size()) << "round " << round;
    for (const DaemonId& member : component.members) ASSERT_TRUE(reached.contains(member.incarnation));
    ASSERT_EQ(is_connected(component.members.size(), component.edges), true);
    ASSERT_EQ(is_connected(size, topology.edges),
              component_of(topology, topology.members[0], nobody).members.size() == size);
  }
}

class Trigger : public ::testing::Test {
 protected:
  Time due(const Topology& reachable) {
    hold_downs.observe(now, reachable);
    return steady.change_due(now, reachable, hold_downs, config);
  }
  Duration wait(const Topology& reachable) { return due(reachable) - now; }

  const ViewConfig config{};
  Time now{100s};
  HoldDowns hold_downs{config};
  Steady steady{kPair};
};

TEST_F(Trigger, NothingDiffers) { EXPECT_EQ(due(kPair), kNever); }

TEST_F(Trigger, ALossCountsAtOnceAndSinceItWasSeen) {
  due(kPair);
  EXPECT_EQ(wait(kAlone), 0s);
  const Time lost = now;
  now += 1s;
  EXPECT_EQ(due(kAlone), lost);
}

TEST_F(Trigger, AGainIsHeldDownFromTheLast) {
  due(kPair);
  now += 10s;
  EXPECT_EQ(wait(kLine), config.gain_hold_down);
  now += 150ms;
  const Topology more{{kA, kB, kC, kD}, {{0, 1, 1, 0}, {1, 2, 1, 0}, {2, 3, 1, 0}}};
  EXPECT_EQ(wait(more), config.gain_hold_down);
  now += 150ms;
  EXPECT_EQ(wait(kLine), config.gain_hold_down - 300ms) << "d is gone again, and no reason to wait";
}

TEST_F(Trigger, ALossEndsTheWaitForAGain) {
  due(kPair);
  EXPECT_GT(wait(kLine), 0s);
  EXPECT_EQ(wait({{kA, kC}, {{0, 1, 1, 0}}}), 0s);
}

TEST_F(Trigger, FlappingDoublesTheHoldDownAndCalmHalvesIt) {
  std::vector<Duration> waits;
  for (int flap = 0; flap < 9; ++flap) {
    due(kPair);
    now += 10ms;
    waits.push_back(wait(kLine));
    now += 10ms;
  }
  // As long as what it has fallen to by the time it is over: of 10 s the half.
  const std::vector<Duration> about{200ms, 200ms, 380ms, 740ms, 1380ms, 2410ms, 3900ms, 5s, 5s};
  for (std::size_t flap = 0; flap < waits.size(); ++flap) {
    EXPECT_NEAR(to_seconds(waits[flap]), to_seconds(about[flap]), 0.03 * to_seconds(about[flap])) << flap;
  }
  due(kPair);
  now += config.gain_hold_down_max;
  EXPECT_NEAR(to_seconds(wait(kLine)), 2.0, 0.05) << "2.5 s after two halvings, and less while it waits";
  due(kPair);
  now += 100 * config.gain_hold_down_max;
  EXPECT_EQ(wait(kLine), 200ms) << "all is forgiven";
}

TEST_F(Trigger, WithoutAHoldDownThePastIsForgottenAtOnce) {
  ViewConfig none;
  none.gain_hold_down = 0ms;
  none.gain_hold_down_max = 1ms;
  HoldDowns without{none};
  without.observe(now, kPair);
  without.observe(now, kAlone);
  now += 1'000'000'000s;
  without.observe(now, kPair);
  EXPECT_EQ(Steady(kAlone).change_due(now, kPair, without, none), now);
}

TEST_F(Trigger, ACrashLoopIsHeldDownAcrossLives) {
  due(kPair);
  Duration last{};
  for (std::uint64_t life = 1; life <= 5; ++life) {
    last = wait({{kA, kB, {"c", life}}, {{0, 1, 1, 0}, {1, 2, 1, 0}}});
    due(kPair);
  }
  EXPECT_NEAR(to_seconds(last), 1.38, 0.05);
}

TEST_F(Trigger, BetterPathsCountOnlyOnceTheyLast) {
  steady = Steady(kRing);
  const Topology heavier{{kA, kB, kC}, {{0, 1, 9, 0}, {0, 2, 1, 0}, {1, 2, 1, 0}}};
  EXPECT_EQ(wait(heavier), config.reroute_delay);
  now += 20s;
  EXPECT_EQ(due(kRing), kNever);
  EXPECT_EQ(wait(heavier), config.reroute_delay) << "it begins anew";
  now += 20s;
  EXPECT_EQ(wait(heavier), config.reroute_delay - 20s);
  const Topology slower{{kA, kB, kC}, {{0, 1, 1, 5000}, {0, 2, 1, 0}, {1, 2, 1, 0}}};
  EXPECT_EQ(due(slower), kNever) << "round-trip times alone route nothing";
}

TEST_F(Trigger, WeightsAreOfNoConsequenceWhereThereIsOnePathOnly) {
  EXPECT_EQ(due({{kA, kB}, {{0, 1, 9, 0}}}), kNever);
}

TEST(Suspicions, OneChanceThenLongerEachTimeUntilAbsolved) {
  Suspicions suspicions;
  Time now{50s};
  suspicions.suspect(now, kB);
  EXPECT_FALSE(suspicions.is_excluded(now, kB));
  EXPECT_EQ(suspicions.next_end(now), kNever);
  for (const Duration expected : {1s, 2s, 4s, 8s, 10s, 10s}) {
    suspicions.suspect(now, kB);
    EXPECT_EQ(suspicions.next_end(now), now + expected);
    EXPECT_TRUE(suspicions.is_excluded(now + expected - 1ns, kB));
    now += expected;
    EXPECT_FALSE(suspicions.is_excluded(now, kB));
  }
  EXPECT_FALSE(suspicions.is_excluded(now, {"b", 2})) << "another life is another daemon";
  suspicions.clear(kB);
  suspicions.suspect(now, kB);
  EXPECT_FALSE(suspicions.is_excluded(now, kB));
}

TEST(View, FindsMembers) {
  const View view{{4, "a"}, {kA, kC}, {}, 0, 0};
  EXPECT_EQ(view.index_of("c"), MemberIndex{1});
  EXPECT_EQ(view.index_of("b"), std::nullopt);
  EXPECT_EQ(view.index_of("d"), std::nullopt);
  EXPECT_EQ(index_in(view.members, kC), MemberIndex{1});
  EXPECT_EQ(index_in(view.members, {"c", 2}), std::nullopt);
}

}  // namespace
}  // namespace spindled
