// The shrinker, with made-up failures.
#include "tests/hunt/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hunt/plan_text.h"

namespace spindled::hunt {
namespace {

std::size_t count(const Plan& plan, StepKind kind) {
  return static_cast<std::size_t>(
      std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) { return step.kind == kind; }));
}

Plan large_plan() {
  for (std::uint64_t seed = 1;; ++seed) {
    Plan plan = draw_plan(seed);
    if (plan.daemons >= 5 && count(plan, StepKind::crash) >= 2 && count(plan, StepKind::send) >= 100) return plan;
  }
}

TEST(HuntShrink, LeavesWhatTheFailureNeeds) {
  const Plan plan = large_plan();
  std::size_t tries = 0;
  const auto fails = [&](const Plan& each) {
    ++tries;
    return each.daemons >= 3 && count(each, StepKind::crash) >= 1 && count(each, StepKind::send) >= 2;
  };
  const Shrunk shrunk = shrink(plan, fails, 2000);
  EXPECT_EQ(shrunk.plan.daemons, 3u);
  EXPECT_EQ(shrunk.plan.steps.size(), 3u) << to_text(shrunk.plan);
  EXPECT_EQ(shrunk.tries, tries);
  for (const Step& step : shrunk.plan.steps) EXPECT_EQ(step.size, 0u);
  EXPECT_LE(shrunk.plan.steps.back().at, Duration(3ms));
  EXPECT_TRUE(is_connected(shrunk.plan));
}

TEST(HuntShrink, LeavesOutRules) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 1\nrules\naccess anyone g send\nrules\naccess anyone h send\nrules\n"
      "access cert:a g send\naccess anyone g send\nquota anyone 1 1 1\nreserve m nobody\n"
      "0 start d0\n1 connect m0 d0 is cert:a\n2 reload d0 1\n3 reload d0 2\n");
  ASSERT_TRUE(plan) << plan.error();
  const auto fails = [](const Plan& each) {
    return std::any_of(each.steps.begin(), each.steps.end(), [&](const Step& step) {
      return step.kind == StepKind::reload && !each.rules[step.rules].quotas.empty();
    });
  };
  const Plan shrunk = shrink(*plan, fails, 1000).plan;
  EXPECT_EQ(to_text(shrunk).find("access"), std::string::npos) << to_text(shrunk);
  EXPECT_EQ(shrunk.rules.size(), 2u);
  ASSERT_EQ(shrunk.steps.size(), 1u);
  EXPECT_EQ(shrunk.steps[0].rules, 1u);
  const auto connects = [](const Plan& each) { return count(each, StepKind::connect) > 0; };
  const Plan without = shrink(*plan, connects, 1000).plan;
  EXPECT_TRUE(without.rules.empty());
  EXPECT_TRUE(without.steps.at(0).identities.empty());
}

TEST(HuntShrink, LeavesWhatIsToBeReceivedItsTime) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 1\n0 start d0\n1000000 connect m0 d0\n2000000 received\n5000000 pause d0\n9000000 resume "
      "d0\n");
  ASSERT_TRUE(plan) << plan.error();
  const auto fails = [](const Plan& each) {
    return count(each, StepKind::received) > 0 && count(each, StepKind::resume) > 0;
  };
  const Plan shrunk = shrink(*plan, fails, 1000).plan;
  ASSERT_EQ(shrunk.steps.size(), 2u) << to_text(shrunk);
  EXPECT_EQ(shrunk.steps[0].at, Duration(2s));
  EXPECT_LE(shrunk.steps[1].at, Duration(2s + 1ms));
}

TEST(HuntShrink, StopsAfterItsTriesWithAPlanThatFails) {
  const Plan plan = large_plan();
  std::size_t tries = 0;
  const auto fails = [&](const Plan& each) {
    ++tries;
    return count(each, StepKind::crash) >= 1;
  };
  const Shrunk shrunk = shrink(plan, fails, 5);
  EXPECT_EQ(tries, 5u);
  EXPECT_EQ(shrunk.tries, 5u);
  EXPECT_TRUE(fails(shrunk.plan));
  EXPECT_LT(shrunk.plan.steps.size(), plan.steps.size());
}

TEST(HuntShrink, KeepsAPlanOfWhichNothingCanGo) {
  const Plan plan = large_plan();
  EXPECT_EQ(shrink(
                plan, [&](const Plan& each) { return each == plan; }, 100)
                .plan,
            plan);
}

TEST(HuntShrink, LeavesOutADaemonAndLinksItsNeighbours) {
  const auto line = parse_plan(
      "hunt-plan 1\ndaemons 4\nlink d0 d1 both 0 1 1\nlink d1 d2 both 0 1 1\nlink d2 d3 both 0 1 1\n"
      "1 crash d1\n2 crash d3\n3 cut d2 d1\n4 cut d2 d3\n5 partition d0 d1 | d2 d3\n6 connect m0 d1\n7 send m0 safe 5 "
      "to g\n");
  ASSERT_TRUE(line) << line.error();
  const auto expected = parse_plan(
      "hunt-plan 1\ndaemons 3\nlink d0 d1 both 0 1 1\nlink d1 d2 both 0 1 1\n"
      "2 crash d2\n4 cut d1 d2\n5 partition d0 | d1 d2\n7 send m0 safe 5 to g\n");
  Plan less = without_daemon(*line, 1);
  EXPECT_EQ(to_text(less), to_text(*expected));
}

TEST(HuntShrink, KeepsTheOthersConnectedWhicheverDaemonGoes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Plan plan = draw_plan(seed);
    for (HostIndex host = 0; host < plan.daemons; ++host) {
      const Plan less = without_daemon(plan, host);
      ASSERT_TRUE(is_connected(less)) << "seed " << seed << " without " << host;
      const auto again = parse_plan(to_text(less));
      ASSERT_TRUE(again) << again.error();
    }
  }
}

}  // namespace
}  // namespace spindled::hunt
