// Plans, as drawn and as text.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hunt/plan_bounds.h"
#include "tests/hunt/plan_text.h"

namespace spindled::hunt {
namespace {

TEST(HuntPlan, IsTheSameForTheSameSeedAndAnotherForAnother) {
  EXPECT_EQ(draw_plan(7), draw_plan(7));
  EXPECT_NE(draw_plan(7).steps, draw_plan(8).steps);
}

TEST(HuntPlan, HasEverythingThatCanHappenInSomeSeed) {
  std::vector<std::size_t> seen(kStepKinds, 0);
  std::uint32_t most = 0, least = UINT32_MAX;
  std::size_t calm = 0, near_wrap = 0, flows = 0, policies = 0, answers = 0, unpriced = 0, varied = 0, huge = 0,
              crowds = 0, namesakes = 0, long_runs = 0, identities = 0, rules = 0, reserved = 0, quotas = 0,
              exchanges = 0;
  constexpr std::uint64_t kSeeds = 600;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Plan plan = draw_plan(seed);
    bool fault = false;
    for (const Step& step : plan.steps) {
      ++seen[static_cast<std::size_t>(step.kind)];
      fault = fault || is_fault(step.kind);
      flows += step.independent_flows ? 1 : 0;
      policies += step.policy != SlowPolicy{} ? 1 : 0;
      answers += step.answers;
      huge += step.size >= 1u << 20 ? 1 : 0;
      crowds += step.client >= 1000 && step.client < 2000 ? 1 : 0;
      exchanges += step.client >= 3000 && step.client < 4000 ? 1 : 0;
      namesakes += step.named ? 1 : 0;
      identities += step.identities.size();
    }
    for (const AccessConfig& each : plan.rules) {
      rules += each.rules.size();
      reserved += each.names.size();
      quotas += each.quotas.size();
    }
    unpriced += plan.admission == 0 ? 1 : 0;
    varied += plan.varied;
    long_runs += plan.steps.back().at > 60s ? 1 : 0;
    ASSERT_TRUE(is_connected(plan)) << seed;
    most = std::max(most, plan.daemons);
    least = std::min(least, plan.daemons);
    calm += fault ? 0 : 1;
    near_wrap += plan.first_number != 0 ? 1 : 0;
  }
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) EXPECT_GT(seen[kind], 0u) << to_string(StepKind(kind));
  EXPECT_EQ(least, 2u);
  EXPECT_GT(most, 40u);
  EXPECT_GT(calm, kSeeds / 50);
  EXPECT_GT(near_wrap, kSeeds / 3);
  EXPECT_LT(near_wrap, kSeeds * 2 / 3);
  for (const std::size_t rare : {flows, policies, answers, unpriced, varied, huge, crowds, namesakes, long_runs,
                                 identities, rules, reserved, quotas, exchanges})
    EXPECT_GT(rare, 0u);
}

TEST(HuntPlan, DaemonsHaveMemoryForTheLargestMessage) {
  const Plan plan = draw_plan(6'000'015'283);  // little memory, and a huge message
  std::uint64_t largest = 0;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::send) largest = std::max<std::uint64_t>(largest, step.size);
  }
  EXPECT_GT(largest, 1u << 20);
  EXPECT_GE(plan.memory_bytes, 4 * largest);
}

TEST(HuntPlan, NothingHoldsUpTheTreeOfASilentRelay) {
  const Plan plan = draw_plan(7'905'006'495);  // one of those that would have feeds, and no datagrams
  const auto count = [&](StepKind kind) {
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) { return step.kind == kind; });
  };
  EXPECT_EQ(count(StepKind::received), 1);
  EXPECT_EQ(count(StepKind::open_feed), 0);
}

TEST(HuntPlan, AConnectionForContentsCountsAsASessionAtFirst) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 2\nlink d0 d1 both 0 1 1\n10 start d0\n11 start d1\n"
      "20 connect m1 d0 content serves\n20 connect m2 d1\n");
  ASSERT_TRUE(plan) << plan.error();
  const PlanBounds bounds = bounds_of(*plan);
  EXPECT_EQ(bounds.daemons[0].sessions, 3u) << "with the fresh member of the end";
  EXPECT_EQ(bounds.daemons[1].sessions, 2u);
}

TEST(HuntPlanText, GivesTheSamePlanAgain) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Plan plan = draw_plan(seed);
    const auto again = parse_plan(to_text(plan));
    ASSERT_TRUE(again) << again.error();
    ASSERT_EQ(*again, plan) << "seed " << seed;
  }
}

TEST(HuntPlanText, MayHaveCommentsAndBlankLines) {
  const auto plan = parse_plan("# found by hand\nhunt-plan 1\n\n  daemons 2 \nlink d0 d1 both 0 100 20\n 5 start d1\n");
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(plan->daemons, 2u);
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0].at, Duration(5us));
  EXPECT_EQ(plan->steps[0].host, 1u);
}

TEST(HuntPlanText, HasRules) {
  const auto plan = parse_plan(
      "hunt-plan 1\ndaemons 1\nrules\nrules\naccess cert:a,uid:* g*,h send,create\naccess anyone * nothing\n"
      "reserve m1* nobody\nquota anyone 1 2 3000\n5 connect m1 d0 is uid:7,gid:7 flows\n9 reload d0 1\n");
  ASSERT_TRUE(plan) << plan.error();
  ASSERT_EQ(plan->rules.size(), 2u);
  EXPECT_EQ(plan->rules[0], AccessConfig());
  const AccessConfig& rules = plan->rules[1];
  ASSERT_EQ(rules.rules.size(), 2u);
  EXPECT_EQ(rules.rules[0].groups, (std::vector<std::string>{"g*", "h"}));
  EXPECT_TRUE(rules.rules[0].allow.contains(Right::create));
  EXPECT_FALSE(rules.rules[0].allow.contains(Right::join));
  EXPECT_EQ(rules.rules[1].allow, RightSet());
  EXPECT_TRUE(rules.names.at(0).who.empty());
  EXPECT_EQ(rules.quotas.at(0).limits, (QuotaLimits{1, 2, 3000}));
  EXPECT_EQ(plan->steps[0].identities, (std::vector<std::string>{"uid:7", "gid:7"}));
  EXPECT_TRUE(plan->steps[0].independent_flows);
  EXPECT_EQ(plan->steps[1].rules, 1u);
  EXPECT_EQ(*parse_plan(to_text(*plan)), *plan);
}

struct Mistake {
  const char* line;
  const char* says;
};

class HuntPlanMistake : public testing::TestWithParam<Mistake> {};

TEST_P(HuntPlanMistake, IsNamedWithItsLine) {
  const std::string head = "hunt-plan 1\ndaemons 3\nlink d0 d1 both 0 1 1\nlink d1 d2 both 0 1 1\n10 start d0\n";
  const auto plan = parse_plan(head + GetParam().line + "\n");
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().find(GetParam().says), std::string::npos) << plan.error();
  EXPECT_EQ(plan.error().substr(0, 7), "line 6:") << plan.error();
}

INSTANTIATE_TEST_SUITE_P(
    Lines, HuntPlanMistake,
    testing::Values(Mistake{"20 explode d1", "\"explode\" is no step"}, Mistake{"20 crash d3", "is no daemon"},
                    Mistake{"20 crash", "daemon of the plan is missing"}, Mistake{"20 crash 1", "is no daemon"},
                    Mistake{"5 crash d1", "comes before"}, Mistake{"20 crash d1 d2", "more than belongs here"},
                    Mistake{"20 send m1 loud 5 to g", "\"loud\" is no service"},
                    Mistake{"20 send m1 safe 5 g", "\"to\""}, Mistake{"20 send m1 safe 99999999 to g", "is no size"},
                    Mistake{"20 send m1 safe 5 to", "destination is missing"},
                    Mistake{"20 partition d0 | d7", "is no daemon"}, Mistake{"20 read m1 fast", "is no rate"},
                    Mistake{"20x crash d1", "is no time"}, Mistake{"20 path d0 d1 5 6", "jitter is missing"},
                    Mistake{"link d0 d0 both 0 1 1", "joins two"}, Mistake{"link d0 d2 none 0 1 1", "is no dialler"},
                    Mistake{"20 connect m1 d1 fast", "is no option"},
                    Mistake{"20 connect m1 d1 as d2", "\"d2\" is no client"},
                    Mistake{"20 connect m1 d1 answers", "number of answers is missing"},
                    Mistake{"20 connect m1 d1 is", "identity is missing"},
                    Mistake{"access anyone g send", "\"rules\" comes first"},
                    Mistake{"20 reload d1 1", "is no number of rules"}, Mistake{"20 reload d1", "is missing"},
                    Mistake{"20 crash-when d1 sleeps", "is no step of a view change"},
                    Mistake{"20 part-when d1 wakes 5 d0 | d1", "is no step of a view change"},
                    Mistake{"20 part-when d1 tells 5 d0 | d5", "is no daemon"}, Mistake{"colour 3", "means nothing"},
                    Mistake{"daemons 2", "was given above"}));

TEST(HuntPlanText, ThatIsNoPlanIsRefused) {
  EXPECT_NE(parse_plan("daemons 3\n").error().find("begins with"), std::string::npos);
  EXPECT_NE(parse_plan("").error().find("empty"), std::string::npos);
  EXPECT_NE(parse_plan("hunt-plan 1\n").error().find("how many daemons"), std::string::npos);
  EXPECT_NE(parse_plan("hunt-plan 1\ndaemons 2\n").error().find("do not connect"), std::string::npos);
  EXPECT_NE(parse_plan("hunt-plan 1\nlink d0 d1 both 0 1 1\n").error().find("comes first"), std::string::npos);
}

}  // namespace
}  // namespace spindled::hunt
