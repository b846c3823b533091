// Partitions for field tests: overlays in a line, alpha - beta - gamma - delta, over real links in memory.
#include <gmock/gmock.h>

#include "tests/unit/overlay_harness.h"

namespace spindled {
namespace {

using test::LinkNet;
using test::OverlayDaemon;
using ::testing::HasSubstr;

class OverlayPartition : public test::OverlayFixture {
 protected:
  static NodeConfig config(const char* name, std::vector<std::string> neighbours, bool allow) {
    NodeConfig result = LinkNet::config(name, std::move(neighbours));
    result.admin.allow_partition = allow;
    return result;
  }
  void start(bool gamma_allows = true) {
    add("alpha", {"beta"}, true);
    add("beta", {"gamma"}, true);
    add("gamma", {"delta"}, gamma_allows);
    add("delta", {}, true);
    for (const auto& node : nodes) bring_up(*node);
    advance(300ms);
    ASSERT_EQ(at(0).reachable().size(), 4u);
  }
  void add(const char* name, std::vector<std::string> neighbours, bool allow) {
    nodes.push_back(std::make_unique<OverlayDaemon>(net.add(config(name, std::move(neighbours), allow))));
  }
  OverlayDaemon& at(std::size_t index) { return *nodes[index]; }
  std::uint64_t controls_out() const {
    std::uint64_t sum = 0;
    for (const auto& node : nodes) sum += node->count(Counter::control_out);
    return sum;
  }
  std::string error_of(PartitionSides sides, Duration duration) {
    const Result<void> result = at(0).overlay.partitions().impose(net.now, std::move(sides), duration);
    return result ? "" : fmt::format("{}: {}", to_string(result.error().code), result.error().text);
  }

  std::vector<std::unique_ptr<OverlayDaemon>> nodes;
};

using Texts = std::vector<std::string>;

TEST_F(OverlayPartition, ReachesEverybodyBeforeTheLinksAcrossGoDown) {
  start();
  ASSERT_TRUE(at(0).overlay.partitions().impose(net.now, {{"alpha", "delta"}, {"beta"}}, 30s));
  advance(5ms);
  for (const auto& node : nodes) EXPECT_EQ(node->partition().id(), (PartitionId{1, {"alpha", 1}}));
  advance(100ms);
  for (const auto& node : nodes) EXPECT_EQ(node->reachable(), (Texts{node->daemon.name()}));
}

TEST_F(OverlayPartition, IsPassedOnOnceAndOnlyAsNews) {
  start();
  advance(1s);
  const std::uint64_t before = controls_out();
  const PartitionOrder order{{1, {"zeta", 1}}, {{"nobody"}}, 30s};
  at(0).overlay.partition_learned(net.now, order);
  settle();
  EXPECT_EQ(controls_out() - before, 3u) << "once over each of three links";
  at(3).overlay.partition_learned(net.now, order);
  at(3).overlay.partition_learned(net.now, {{1, {"alpha", 1}}, {{"delta"}}, 30s});
  settle();
  EXPECT_EQ(controls_out() - before, 3u);
  EXPECT_EQ(at(3).daemon.logged(LogLevel::debug, "partition order 1@alpha is dropped: 1@zeta is newer"), 1u);
}

TEST_F(OverlayPartition, OfTwoAtOnceTheSameOneHoldsEverywhere) {
  start();
  ASSERT_TRUE(at(0).overlay.partitions().impose(net.now, {{"alpha"}}, 30s));
  ASSERT_TRUE(at(3).overlay.partitions().impose(net.now, {{"gamma", "delta"}}, 30s));
  advance(2s);
  for (const auto& node : nodes) EXPECT_EQ(to_string(node->partition().id()), "1@delta");
  EXPECT_EQ(at(0).reachable(), (Texts{"alpha", "beta"}));
  EXPECT_EQ(at(3).reachable(), (Texts{"delta", "gamma"}));
}

TEST_F(OverlayPartition, AHealAnywhereEndsItEverywhere) {
  start();
  ASSERT_TRUE(at(0).overlay.partitions().impose(net.now, {{"alpha"}, {"beta"}, {"gamma"}, {"delta"}}, 10min));
  advance(1s);
  EXPECT_EQ(at(1).reachable(), (Texts{"beta"}));
  ASSERT_TRUE(at(3).overlay.partitions().heal(net.now));
  // Three gaps, each crossed with the next attempt.
  advance(1600ms);
  for (const auto& node : nodes) {
    EXPECT_FALSE(node->partition().is_imposed());
    EXPECT_EQ(node->reachable().size(), 4u);
  }
}

TEST_F(OverlayPartition, EndsByItself) {
  start();
  ASSERT_TRUE(at(1).overlay.partitions().impose(net.now, {{"gamma", "delta"}}, 3s));
  advance(2900ms);
  EXPECT_EQ(at(0).reachable(), (Texts{"alpha", "beta"}));
  advance(1s);
  EXPECT_EQ(at(0).reachable().size(), 4u);
}

TEST_F(OverlayPartition, OrdersThatMakeNoSenseAreRefused) {
  start();
  EXPECT_EQ(error_of({{"alpha", "omega"}}, 30s),
            "bad_argument: there is no daemon omega; known are alpha beta delta gamma");
  EXPECT_EQ(error_of({{"alpha", "beta", "gamma", "delta"}}, 30s),
            "bad_argument: one side of all daemons is no partition");
  EXPECT_EQ(error_of({}, 30s), "bad_argument: no side is named");
  EXPECT_EQ(error_of({{"alpha"}, {"alpha"}}, 30s), "bad_argument: a partition names a daemon twice");
  EXPECT_EQ(error_of({{"alpha"}}, 2h), "bad_argument: a partition lasts no time, or more than an hour");
  EXPECT_EQ(at(0).partition().id().number, 0u);
  EXPECT_EQ(error_of({{"alpha", "beta"}, {"gamma", "delta"}}, 1h), "");
}

TEST_F(OverlayPartition, EndsWhereItIsNotAllowedAnyMore) {
  start();
  ASSERT_TRUE(at(0).overlay.partitions().impose(net.now, {{"alpha"}, {"beta"}, {"gamma", "delta"}}, 10min));
  advance(1s);
  ASSERT_EQ(at(0).reachable(), (Texts{"alpha"}));
  for (OverlayDaemon* each : {&at(0), &at(1)}) {
    NodeConfig next = each->daemon.context.config;
    next.admin.allow_partition = false;
    each->daemon.context.reconfigure(next);
    each->overlay.reconsider(net.now);
  }
  advance(1600ms);
  EXPECT_FALSE(at(0).partition().is_imposed());
  EXPECT_EQ(at(0).reachable(), (Texts{"alpha", "beta"})) << "gamma still follows it";
  EXPECT_TRUE(at(2).partition().is_imposed());
  EXPECT_EQ(at(0).daemon.logged(LogLevel::warning, "is not followed any more"), 1u);
  ASSERT_TRUE(at(3).overlay.partitions().heal(net.now));
  advance(1600ms);
  EXPECT_EQ(at(0).reachable().size(), 4u);
}

TEST_F(OverlayPartition, IsNotToldByWhoDoesNotAllowIt) {
  start();
  ASSERT_TRUE(at(2).overlay.partitions().impose(net.now, {{"alpha"}}, 10min));
  advance(1s);
  NodeConfig next = at(3).daemon.context.config;
  next.admin.allow_partition = false;
  at(3).daemon.context.reconfigure(next);
  add("zeta", {"delta"}, true);
  bring_up(at(4));
  advance(1600ms);
  EXPECT_EQ(at(4).reachable(), (Texts{"beta", "delta", "gamma", "zeta"}));
  EXPECT_EQ(at(4).partition().id().number, 0u);
}

TEST_F(OverlayPartition, ADaemonThatDoesNotAllowThemTakesNone) {
  start(false);
  EXPECT_THAT(at(2).overlay.partitions().impose(net.now, {{"alpha"}}, 30s).error().text, HasSubstr("allow_partition"));
  EXPECT_THAT(at(2).overlay.partitions().heal(net.now).error().text, HasSubstr("allow_partition"));
  ASSERT_TRUE(at(0).overlay.partitions().impose(net.now, {{"alpha", "beta"}}, 30s));
  advance(1s);
  EXPECT_FALSE(at(2).partition().is_imposed());
  EXPECT_FALSE(at(3).partition().is_imposed()) << "nor is it passed on";
  EXPECT_EQ(at(2).daemon.logged(LogLevel::warning, "admin.allow_partition is false"), 1u);
  EXPECT_EQ(at(1).reachable(), (Texts{"alpha", "beta"})) << "one end holds a link down";
}

}  // namespace
}  // namespace spindled
