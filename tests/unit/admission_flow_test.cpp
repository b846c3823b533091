// Budgets, and salaries by equations (10) and (11) of the cost-benefit paper. How Flow departs from it: a salary
// accrues continuously, and changes continuously by the same laws taken over time, rather than on paydays. Beside that
// it grows by a constant, which the laws below are tried where it makes no difference: at high rates.
#include "daemon/admission/flow.h"

#include <gtest/gtest.h>

#include <cmath>

namespace spindled {
namespace {

struct FlowTest : ::testing::Test {
  FlowTest() {
    config.salary = 10;
    config.savings_max = 20;
    config.price_threshold = 2;
    config.period_first = 1s;
    config.period_max = 16s;
    config.step = 50ms;
  }

  void accrue() { flow.accrue(now, config, config.savings_max); }
  bool pay(double price, std::size_t packets = 1) { return flow.try_pay(now, price, packets, config, 50ms); }
  /// What admission does for each message; `step` is the feedback time.
  bool enter(double price, Duration step = 50ms, std::size_t packets = 1) {
    accrue();
    flow.review(now, config, price, step);
    return pay(price, packets);
  }
  /// A flow that is refused all the time: it owes for a message that was far too large.
  void start_refused(double price = 1) {
    flow = Flow();
    ASSERT_TRUE(enter(price, 50ms, 1'000'000'000));
    ASSERT_FALSE(enter(price));
  }
  /// The flow is looked at every 5 ms for so long, and refused.
  void refuse_for(Duration duration, double price, Duration step = 50ms) {
    for (const Time end = now + duration; now < end;) {
      now += 5ms;
      ASSERT_FALSE(enter(price, step));
    }
  }
  /// Salaries per second.
  double rate() const { return 1e9 / static_cast<double>(flow.period().count()); }
  /// To where a constant makes no difference.
  void grow_fast() {
    for (int i = 0; i < 1000 && rate() < 20'000; ++i) refuse_for(5ms, 1);
    ASSERT_GE(rate(), 20'000);
  }
  /// How much the logarithm of the rate grows in 100 ms of refusals at that price.
  double growth_at(double price, Duration step = 50ms) {
    start_refused();
    grow_fast();
    const double before = rate();
    refuse_for(100ms, price, step);
    return std::log(rate() / before);
  }
  /// To ten dollars.
  void earn_ten() {
    accrue();
    now += 800ms;
    accrue();
  }

  AdmissionConfig config;
  Time now{100s};
  Flow flow;
};

TEST_F(FlowTest, StartsWithALittleAndEarnsContinuously) {
  accrue();
  EXPECT_EQ(flow.budget(), 2);
  EXPECT_EQ(flow.period(), 1s);
  ASSERT_TRUE(pay(1.5));
  EXPECT_NEAR(flow.budget(), 0.5, 1e-9);
  now += 300ms;
  accrue();
  EXPECT_NEAR(flow.budget(), 3.5, 1e-9) << "three tenths of a period, three tenths of a salary";
}

TEST_F(FlowTest, SavesUpToTheCap) {
  accrue();
  now += 10s;
  accrue();
  EXPECT_EQ(flow.budget(), 20);
  flow.accrue(now += 10s, config, 35);
  EXPECT_EQ(flow.budget(), 35);
  flow.accrue(now, config, 20);
  EXPECT_EQ(flow.budget(), 20) << "what was saved on an idle network is not spent on a congested one";
}

TEST_F(FlowTest, WaitsUntilThePriceIsEarned) {
  earn_ten();
  ASSERT_TRUE(pay(9));
  EXPECT_FALSE(flow.is_blocked());
  const Time start = now;
  ASSERT_FALSE(pay(1.5));
  EXPECT_TRUE(flow.is_blocked());
  for (bool paid = false; !paid; paid = pay(1.5)) {
    ASSERT_GT(flow.retry_at(), now);
    now = flow.retry_at();
    accrue();
  }
  EXPECT_NEAR(to_seconds(now - start), 0.05, 1e-3) << "half a dollar was missing, at 10 a second";
  EXPECT_FALSE(flow.is_blocked());
  EXPECT_EQ(flow.retry_at(), kNever);
  EXPECT_EQ(flow.packets(), 2u);
  EXPECT_NEAR(flow.dollars(), 10.5, 1e-9);
}

TEST_F(FlowTest, LargeMessagesLeaveADebt) {
  earn_ten();
  ASSERT_TRUE(pay(2, 25)) << "the first packet can be paid";
  EXPECT_NEAR(flow.budget(), -40, 1e-9);
  EXPECT_EQ(flow.packets(), 25u);
  EXPECT_NEAR(flow.dollars(), 50, 1e-9);
  now += 4s;
  accrue();
  EXPECT_FALSE(pay(1)) << "the debt is just worked off";
  now += 100ms;
  accrue();
  EXPECT_TRUE(pay(1));
}

TEST_F(FlowTest, EquationTenOverTime) {
  // Equation (10) adds 1/T_update to 1/T once in each T: it grows by a factor of e in T_update.
  for (const Duration step : {20ms, 50ms, 200ms}) {
    EXPECT_NEAR(growth_at(1, step), 100ms / std::chrono::duration<double>(step), 0.01) << step.count();
  }
}

TEST_F(FlowTest, GrowsAsFastWhereItIsLookedAtOnceInAStep) {
  start_refused();
  grow_fast();
  const double before = rate();
  refuse_for(25ms, 1, 5ms);
  EXPECT_NEAR(std::log(rate() / before), 5, 0.01);
}

TEST_F(FlowTest, GrowsTheLessTheNearerThePriceIsToTheThreshold) {
  const double idle = growth_at(1);
  EXPECT_NEAR(growth_at(1.25), 0.75 * idle, 0.01);
  EXPECT_NEAR(growth_at(1.5), 0.5 * idle, 0.01);
  EXPECT_NEAR(growth_at(2), 0, 0.01);
}

TEST_F(FlowTest, EquationElevenOverTime) {
  // Equation (11) takes a share of 1/T off. The dearer the packets, the larger the share.
  const double by_one = growth_at(3);
  EXPECT_LT(by_one, -0.01);
  EXPECT_NEAR(growth_at(4), 2 * by_one, 0.01);
  EXPECT_NEAR(growth_at(7), 5 * by_one, 0.01);
}

TEST_F(FlowTest, BesideThatItGrowsByAConstant) {
  start_refused();
  const double first = rate();
  refuse_for(500ms, 2);
  const double second = rate();
  refuse_for(500ms, 2);
  EXPECT_GT(second, first) << "at the threshold nothing else changes it";
  EXPECT_NEAR(rate() - second, second - first, 0.01 * (second - first));
}

TEST_F(FlowTest, OneLookMakesUpForLittle) {
  start_refused();
  grow_fast();
  const double before = rate();
  now += 1h;
  enter(1);
  EXPECT_LE(rate(), 3 * before) << "what was idle so long does not come back with an hour's growth";
}

TEST_F(FlowTest, ThePeriodHasALongest) {
  config.period_max = 2s;
  start_refused();
  refuse_for(1s, 10'000);
  EXPECT_EQ(flow.period(), 2s);
}

TEST_F(FlowTest, AFlowThatIsNotRefusedKeepsItsPeriod) {
  for (const double price : {1.0, 5.0}) {
    for (int second = 0; second < 20; ++second) {
      now += 1s;
      ASSERT_TRUE(enter(price));
      ASSERT_EQ(flow.period(), 1s) << second;
    }
  }
}

TEST_F(FlowTest, WaitingForRoomIsNoRefusal) {
  ASSERT_TRUE(enter(1));
  for (int i = 0; i < 100; ++i) {
    now += 100ms;
    accrue();
    flow.wait_for_room(now);
    now += 100ms;
    ASSERT_TRUE(enter(1));
  }
  EXPECT_EQ(flow.period(), 1s) << "it had the dollars all the time";
}

TEST_F(FlowTest, WaitingForRoomIsARefusalWhereAPacketCostsMoreThanTheThreshold) {
  earn_ten();
  const auto wait_and_review = [&](double price) {
    flow.wait_for_room(now);
    for (int i = 0; i < 3; ++i) {
      now += 10ms;
      accrue();
      flow.review(now, config, price, 50ms);
    }
    return flow.period();
  };
  const Duration before = flow.period();
  EXPECT_EQ(wait_and_review(config.price_threshold), before);
  EXPECT_GT(wait_and_review(config.price_threshold + 100), before);
}

TEST_F(FlowTest, LooksAgainSoonEnoughToGrow) {
  start_refused();
  EXPECT_GT(flow.retry_at(), now);
  EXPECT_LE(flow.retry_at(), now + 100ms) << "the salary changes, though the debt lasts for years";
}

TEST_F(FlowTest, WaitsForRoomWithoutPrice) {
  accrue();
  flow.wait_for_room(now);
  EXPECT_TRUE(flow.is_blocked());
  EXPECT_EQ(flow.retry_at(), kNever);
  now += 500ms;
  flow.pass(now, 3);
  EXPECT_FALSE(flow.is_blocked());
  EXPECT_EQ(flow.packets(), 3u);
  EXPECT_EQ(flow.dollars(), 0);
  EXPECT_EQ(flow.budget(), 2);
}

TEST_F(FlowTest, KnowsHowMuchOfItsLifeItWasBlocked) {
  EXPECT_EQ(flow.blocked_share(now), 0);
  flow.pass(now, 1);
  now += 600ms;
  flow.wait_for_room(now);
  now += 200ms;
  EXPECT_NEAR(flow.blocked_share(now), 0.25, 1e-9) << "up to this moment";
  flow.pass(now, 1);
  now += 200ms;
  EXPECT_NEAR(flow.blocked_share(now), 0.2, 1e-9);
}

TEST_F(FlowTest, ItsLifeBeginsWithItsFirstMessageWhateverBecomesOfIt) {
  flow.wait_for_room(now);
  now += 100ms;
  EXPECT_EQ(flow.blocked_share(now), 1) << "its first message waits";
  accrue();
  ASSERT_TRUE(pay(1));
  EXPECT_EQ(flow.blocked_share(now), 1);
  now += 100ms;
  EXPECT_NEAR(flow.blocked_share(now), 0.5, 1e-9);

  Flow free;
  free.pass(now, 1);
  now += 300ms;
  free.wait_for_clients(now, now + 50ms);
  EXPECT_EQ(free.retry_at(), now + 50ms);
  now += 100ms;
  EXPECT_NEAR(free.blocked_share(now), 0.25, 1e-9) << "one that never pays has a life as well";
}

TEST_F(FlowTest, AFlowThatIsPutOffIsBlocked) {
  ASSERT_TRUE(enter(1));
  now += 100ms;
  accrue();
  flow.draw(now, 0.5);
  ASSERT_TRUE(flow.is_put_off(now, 200ms));
  EXPECT_EQ(flow.waits_for(), Flow::Wait::lot);
  EXPECT_EQ(flow.retry_at(), now + 100ms);
  now += 100ms;
  EXPECT_FALSE(flow.is_put_off(now, 200ms));
  ASSERT_TRUE(enter(1));
  EXPECT_FALSE(flow.is_blocked());
  EXPECT_NEAR(flow.blocked_share(now), 0.5, 1e-9);
}

TEST_F(FlowTest, ALotHoldsForLessWhereTheLongestWaitBecomesLessAndForNoMoreWhereItBecomesMore) {
  flow.draw(now, 0.5);
  const Time drawn_at = now;
  ASSERT_TRUE(flow.is_put_off(now, 10s));
  EXPECT_EQ(flow.retry_at(), drawn_at + 5s);
  now += 100ms;
  ASSERT_TRUE(flow.is_put_off(now, 20s));
  EXPECT_EQ(flow.retry_at(), drawn_at + 5s);
  ASSERT_TRUE(flow.is_put_off(now, 1s));
  EXPECT_EQ(flow.retry_at(), drawn_at + 500ms);
  ASSERT_TRUE(flow.is_put_off(now, 10s));
  EXPECT_EQ(flow.retry_at(), drawn_at + 500ms);
  EXPECT_FALSE(flow.is_put_off(now, 200ms));
}

TEST_F(FlowTest, KnowsWhatAMessageHasWaitedFor) {
  EXPECT_EQ(flow.waits_for(), Flow::Wait::none);
  flow.wait_for_room(now);
  EXPECT_EQ(flow.waits_for(), Flow::Wait::room);
  EXPECT_FALSE(flow.has_waited_for(Flow::Wait::dollars));
  accrue();
  ASSERT_FALSE(pay(5));
  EXPECT_EQ(flow.waits_for(), Flow::Wait::dollars);
  EXPECT_TRUE(flow.has_waited_for(Flow::Wait::dollars));
  EXPECT_TRUE(flow.has_waited_for(Flow::Wait::room)) << "before";
  flow.pass(now, 1);
  EXPECT_EQ(flow.waits_for(), Flow::Wait::none);
  EXPECT_FALSE(flow.has_waited_for(Flow::Wait::room)) << "that was another message";
}

TEST_F(FlowTest, RateIsOfLately) {
  accrue();
  for (int i = 0; i < 5000; ++i) {
    now += 2ms;
    flow.pass(now, 1);
  }
  EXPECT_NEAR(flow.rate(now), 500, 5);
  EXPECT_LT(flow.rate(now + 10s), 1);
}

}  // namespace
}  // namespace spindled
