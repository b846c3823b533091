// Trees of bulk channels.
#include "daemon/bulk/tree_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/overlay_graphs.h"

namespace spindled {
namespace {

/// Edges as (a, b, capacity), in the order of views.
View view_with(std::size_t members, const std::vector<std::tuple<int, int, int>>& edges,
               std::vector<std::uint64_t>& capacities) {
  Topology topology{test::members(members), {}};
  for (const auto& [a, b, capacity] : edges) {
    topology.edges.push_back({static_cast<MemberIndex>(a), static_cast<MemberIndex>(b), 1, 0});
    capacities.push_back(static_cast<std::uint64_t>(capacity));
  }
  return test::view_of(topology, 0);
}

MemberSet all_of(std::size_t members) { return MemberSet::first(members); }

/// "1<0 2<1(0)": members with their parents, and backups.
std::string shape(const TreePlan& plan) {
  std::string text;
  for (const TreePlace& place : plan.places) {
    if (place.parent == place.member) continue;
    text += fmt::format("{}{}<{}", text.empty() ? "" : " ", place.member, place.parent);
    if (place.backup) text += fmt::format("({})", *place.backup);
  }
  return text;
}

TEST(TreePlan, TakesTheWiderDetour) {
  std::vector<std::uint64_t> capacities;
  const View view = view_with(3, {{0, 1, 40}, {0, 2, 9}, {1, 2, 22}}, capacities);
  EXPECT_EQ(shape(plan_tree({view, 0, all_of(3), capacities})), "1<0 2<1(0)");
}

TEST(TreePlan, IsShallowWhereRatesAreAlike) {
  std::vector<std::uint64_t> capacities;
  const View view = view_with(3, {{0, 1, 100}, {0, 2, 95}, {1, 2, 100}}, capacities);
  EXPECT_EQ(shape(plan_tree({view, 0, all_of(3), capacities})), "1<0 2<0(1)");
}

TEST(TreePlan, TakesWhatIsNotKnownForTheMedian) {
  std::vector<std::uint64_t> capacities;
  const View view = view_with(4, {{0, 1, 0}, {0, 2, 10}, {1, 2, 90}, {2, 3, 100}}, capacities);
  EXPECT_EQ(shape(plan_tree({view, 0, all_of(4), capacities})), "1<0 2<1(0) 3<2");
}

TEST(TreePlan, TellsWhatAnotherOneWouldGain) {
  std::vector<std::uint64_t> capacities;
  const View view = view_with(3, {{0, 1, 100}, {0, 2, 95}, {1, 2, 100}}, capacities);
  const TreePlan plan = plan_tree({view, 0, all_of(3), capacities});
  EXPECT_DOUBLE_EQ(largest_gain(plan, plan, {view, 0, all_of(3), capacities}), 1);
  capacities[1] = 20;
  const TreeInput now{view, 0, all_of(3), capacities};
  EXPECT_DOUBLE_EQ(largest_gain(plan, plan_tree(now), now), 5);
}

TEST(TreePlan, SharesTheEgressOfAParent) {
  std::vector<std::uint64_t> capacities;
  const View view =
      view_with(4, {{0, 1, 100}, {0, 2, 100}, {0, 3, 100}, {1, 2, 100}, {1, 3, 100}, {2, 3, 100}}, capacities);
  const std::vector<std::uint64_t> egress{100, 100, 100, 100};
  EXPECT_EQ(shape(plan_tree({view, 0, all_of(4), capacities, egress})), "1<0 2<1(0) 3<2(0)");
}

TEST(TreePlan, HasNoLeafWithoutReceivers) {
  std::vector<std::uint64_t> capacities;
  const View view = view_with(5, {{0, 1, 9}, {1, 2, 9}, {1, 3, 9}, {3, 4, 9}}, capacities);
  MemberSet receivers = MemberSet::of(2);
  EXPECT_EQ(shape(plan_tree({view, 0, receivers, capacities})), "1<0 2<1");
  receivers.insert(4);
  EXPECT_EQ(shape(plan_tree({view, 0, receivers, capacities})), "1<0 2<1 3<1 4<3");
}

TEST(TreePlan, LeavesOutWhatCannotBeReached) {
  std::vector<std::uint64_t> capacities;
  const View view = view_with(4, {{0, 1, 9}, {2, 3, 9}}, capacities);
  EXPECT_EQ(shape(plan_tree({view, 0, all_of(4), capacities})), "1<0");
  EXPECT_EQ(plan_tree({view, 0, MemberSet::of(3), capacities}).places.size(), 1U);
}

TEST(TreePlan, GoesDeeperThanItIsToWhereNobodyIsReachedOtherwise) {
  std::vector<std::tuple<int, int, int>> chain;
  for (int i = 0; i < 39; ++i) chain.emplace_back(i, i + 1, 5);
  std::vector<std::uint64_t> capacities;
  const View of_chain = view_with(40, chain, capacities);
  EXPECT_EQ(plan_tree({of_chain, 0, all_of(40), capacities}).places.size(), 40U);
  // A narrow way around the wide chain is not so deep.
  capacities.clear();
  chain.insert(chain.begin() + 1, {0, 39, 1});
  const View view = view_with(40, chain, capacities);
  const TreePlan plan = plan_tree({view, 0, all_of(40), capacities});
  EXPECT_EQ(plan.places.size(), 40U);
  EXPECT_EQ(plan.find(39)->parent, 0U);
  EXPECT_EQ(plan.find(16)->parent, 15U);
  EXPECT_EQ(plan.find(25)->parent, 26U);
}

TEST(TreePlan, OfAnyTopologyReachesAllAndHasNoLoops) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 2 + random.below(40);
    const View view = test::view_of(test::random_topology(random, count, 0.1, 1), 0);
    std::vector<std::uint64_t> capacities;
    for (std::size_t i = 0; i < view.edges.size(); ++i) capacities.push_back(random.below(4) * 1000);
    const auto root = static_cast<MemberIndex>(random.below(count));
    const TreePlan plan = plan_tree({view, root, all_of(count), capacities});
    ASSERT_EQ(plan.places.front().member, root);
    std::map<MemberIndex, std::size_t> depth{{root, 0}};
    const auto is_edge = [&](MemberIndex a, MemberIndex b) {
      return std::any_of(view.edges.begin(), view.edges.end(),
                         [&](const Edge& each) { return each.a == std::min(a, b) && each.b == std::max(a, b); });
    };
    for (const TreePlace& place : plan.places) {
      if (place.member == root) continue;
      ASSERT_TRUE(depth.contains(place.parent));
      ASSERT_TRUE(is_edge(place.member, place.parent));
      depth[place.member] = depth[place.parent] + 1;
      if (!place.backup) continue;
      ASSERT_TRUE(depth.contains(*place.backup));
      ASSERT_TRUE(is_edge(place.member, *place.backup));
      ASSERT_NE(*place.backup, place.parent);
    }
    EXPECT_EQ(plan.places.size(), count);
  }
}

TEST(TreePlan, IsReadAsItWasWritten) {
  const spindle::bulk::BulkChannelId channel{"alpha", 77, 3};
  const TreePlan plan{9, {{2, 2, {}}, {0, 2, {}}, {130, 0, MemberIndex{2}}}};
  const std::vector<std::uint8_t> bytes = write_tree_plan(channel, plan);
  const auto told = read_tree_plan(bytes, 131);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->channel, channel);
  EXPECT_EQ(told->plan, plan);
  EXPECT_FALSE(read_tree_plan(bytes, 130)) << "there is no such member";
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_FALSE(read_tree_plan(ByteView(bytes).first(i), 131));
}

TEST(TreePlan, IsNotReadWhereItIsNoTree) {
  const spindle::bulk::BulkChannelId channel{"alpha", 77, 3};
  const auto read = [&](std::vector<TreePlace> places) {
    return read_tree_plan(write_tree_plan(channel, {0, std::move(places)}), 8).has_value();
  };
  EXPECT_TRUE(read({{0, 0, {}}, {1, 0, {}}}));
  EXPECT_FALSE(read({})) << "no root";
  EXPECT_FALSE(read({{0, 1, {}}, {1, 0, {}}})) << "a loop";
  EXPECT_FALSE(read({{0, 0, {}}, {1, 1, {}}})) << "two roots";
  EXPECT_FALSE(read({{0, 0, {}}, {1, 0, {}}, {1, 0, {}}})) << "one member twice";
  EXPECT_FALSE(read({{0, 0, {}}, {1, 0, MemberIndex{2}}, {2, 1, {}}})) << "a backup below";
  EXPECT_FALSE(read({{0, 0, MemberIndex{1}}, {1, 0, {}}})) << "a root with a backup";
}

}  // namespace
}  // namespace spindled
