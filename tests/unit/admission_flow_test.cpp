// Salaries and what they buy: packets earned at salary / price, and a salary that tends to that of balance.
#include "daemon/admission/flow.h"

#include <gtest/gtest.h>

#include <cmath>

namespace spindled {
namespace {

struct FlowTest : ::testing::Test {
  FlowTest() {
    config.salary = 10;
    config.price_threshold = 2;
  }

  Flow::Terms terms(double price) const { return {price, price <= 1, delay, age}; }
  void accrue() { flow.accrue(now, kSavings); }
  void review(double price) { flow.review(now, config, terms(price)); }
  bool pay(double price, std::size_t packets = 1) {
    if (!flow.can_pay()) {
      flow.wait_for_dollars(now, 50ms);
      return false;
    }
    flow.pay(now, price, packets);
    return true;
  }
  /// What admission does for each message; at the fee the way costs nothing else.
  bool enter(double price, std::size_t packets = 1) {
    accrue();
    review(price);
    accrue();
    return pay(price, packets);
  }
  /// A flow that is refused all the time: it owes for a message that was far too large.
  void start_refused(double price = 1) {
    flow = Flow();
    ASSERT_TRUE(enter(price, 1'000'000'000));
    ASSERT_FALSE(enter(price));
  }
  /// The flow is looked at in steps for so long, and refused.
  void refuse_for(Duration duration, double price, Duration step = 5ms) {
    for (const Time end = now + duration; now < end;) {
      now += step;
      ASSERT_FALSE(enter(price));
    }
  }
  /// Dollars a second with which a flow is in balance.
  double balance(double price) const { return 1e6 * 2 * std::pow(2 / price, 2); }
  /// How much the logarithm of the salary changes in so many delays at that price, when it is that far from balance.
  double change(double price, double missing, double delays) {
    start_refused(price);
    flow.keep_rate(flow.salary(), balance(price));
    review(price);  // it has had its share and is young no more
    return change_from_here(price, missing, delays);
  }
  double change_from_here(double price, double missing, double delays) {
    flow.keep_rate(1, std::exp(-missing) * balance(price) / flow.salary());
    const double before = flow.salary();
    EXPECT_NEAR(std::log(balance(price) / before), missing, 1e-9);
    now += from_seconds(to_seconds(delay) * delays);
    EXPECT_FALSE(enter(price));
    return std::log(flow.salary() / before);
  }

  static constexpr double kSavings = 20;
  AdmissionConfig config;
  Duration delay = 100ms;
  Duration age = 10s;
  Time now{100s};
  Flow flow;
};

TEST_F(FlowTest, StartsWithTwoPacketsAndEarnsContinuously) {
  delay = 1s;
  ASSERT_TRUE(enter(1));
  EXPECT_EQ(flow.credit(), 1);
  EXPECT_EQ(flow.salary(), 10);
  EXPECT_EQ(flow.earning(), 10) << "packets a second, at a dollar";
  now += 50ms;
  accrue();
  EXPECT_NEAR(flow.credit(), 1.5, 1e-9);
}

TEST_F(FlowTest, BeginsFasterOnAShortIdleWay) {
  delay = 10ms;
  ASSERT_TRUE(enter(1));
  EXPECT_NEAR(flow.earning(), 200, 1e-9) << "two packets in a round trip";
}

TEST_F(FlowTest, BeginsWithHalfOfWhatOthersEarnWhereItsWayCostsSomething) {
  for (const double price : {3.0, 20.0, 200.0}) {
    flow = Flow();
    ASSERT_TRUE(enter(price));
    EXPECT_NEAR(flow.salary(), balance(price) / 2, 1e-6) << price;
  }
}

TEST_F(FlowTest, SavesUpToTheCap) {
  ASSERT_TRUE(enter(1));
  now += 10s;
  accrue();
  EXPECT_EQ(flow.credit(), 20);
  flow.accrue(now += 10s, 35);
  EXPECT_EQ(flow.credit(), 35);
  flow.accrue(now, 20);
  EXPECT_EQ(flow.credit(), 20) << "what was saved on an idle network is not spent on a congested one";
}

TEST_F(FlowTest, WaitsUntilThePacketIsEarned) {
  ASSERT_TRUE(enter(20)) << "a new flow may send one";
  EXPECT_FALSE(flow.is_blocked());
  const Time start = now;
  const double earning = flow.earning();
  ASSERT_FALSE(pay(20));
  EXPECT_TRUE(flow.is_blocked());
  for (bool paid = false; !paid; paid = pay(20)) {
    ASSERT_GT(flow.retry_at(), now);
    now = flow.retry_at();
    accrue();
  }
  EXPECT_NEAR(to_seconds(now - start), 1 / earning, 0.0006) << "nobody is looked at sooner than after half of that";
  EXPECT_FALSE(flow.is_blocked());
  EXPECT_EQ(flow.retry_at(), kNever);
  EXPECT_EQ(flow.packets(), 2u);
  EXPECT_NEAR(flow.dollars(), 40, 1e-9);
}

TEST_F(FlowTest, WhatIsSavedArePacketsWhateverTheyCostByNow) {
  ASSERT_TRUE(enter(20));
  const double before = flow.earning();
  now += from_seconds(1 / before);
  accrue();
  review(2000);
  EXPECT_NEAR(flow.credit(), 1, 1e-6);
  flow.set_entry(0.9);
  EXPECT_TRUE(pay(2000)) << "it was earned before";
  EXPECT_LT(flow.earning(), before / 99) << "but what comes is dearer";
}

TEST_F(FlowTest, LargeMessagesLeaveADebt) {
  ASSERT_TRUE(enter(20, 25)) << "the first packet is earned";
  EXPECT_NEAR(flow.credit(), -24, 1e-9);
  EXPECT_EQ(flow.packets(), 25u);
  EXPECT_NEAR(flow.dollars(), 25 * 20, 1e-9);
  now += from_seconds(24.9 / flow.earning());
  accrue();
  EXPECT_FALSE(pay(20)) << "the debt is just worked off";
  now += from_seconds(0.2 / flow.earning());
  accrue();
  EXPECT_TRUE(pay(20));
}

TEST_F(FlowTest, AMessageEntersAtTheCreditThatWasDrawnForIt) {
  ASSERT_TRUE(enter(20));
  ASSERT_EQ(flow.credit(), 0);
  flow.set_entry(-0.5);
  EXPECT_TRUE(flow.has_entry());
  ASSERT_TRUE(pay(20)) << "sooner than it is earned";
  EXPECT_FALSE(flow.has_entry()) << "that was for one message";
  EXPECT_EQ(flow.entry(), 1);
  flow.set_entry(1.5);
  now += from_seconds(2.3 / flow.earning());
  accrue();
  EXPECT_FALSE(pay(20));
  now += from_seconds(0.3 / flow.earning());
  accrue();
  EXPECT_TRUE(pay(20));
}

TEST_F(FlowTest, AMessageThatEntersLateIsNotKeptOutByTheCap) {
  ASSERT_TRUE(enter(20));
  flow.set_entry(36);
  now += from_seconds(40 / flow.earning());
  accrue();
  EXPECT_TRUE(pay(20, 70));
}

TEST_F(FlowTest, GrowsByEInARoundTripWhereNothingCostsAnything) {
  for (const Duration round_trip : {10ms, 50ms, 200ms}) {
    delay = round_trip;
    start_refused();
    const double before = flow.salary();
    refuse_for(100ms, 1);
    EXPECT_NEAR(std::log(flow.salary() / before), 0.1 / to_seconds(round_trip), 0.01) << round_trip.count();
  }
}

TEST_F(FlowTest, GoesAFifthOfTheWayToBalanceInADelay) {
  for (const double price : {3.0, 70.0, 2000.0}) {
    for (const double missing : {-1.0, -0.5, 0.5, 1.0}) {
      EXPECT_NEAR(change(price, missing, 0.01), missing * (1 - std::exp(-0.002)), 1e-5) << price << ", " << missing;
      EXPECT_NEAR(change(price, missing, 5), missing * (1 - std::exp(-1)), 1e-5) << price << ", " << missing;
    }
    // Near to it the way is that of the salary instead of its logarithm.
    for (const double missing : {-0.1, 0.0, 0.1}) {
      const double share = 1 - (1 - std::exp(-missing)) * std::exp(-1);
      EXPECT_NEAR(change(price, missing, 5), std::log(share) + missing, 1e-5) << price << ", " << missing;
    }
  }
}

TEST_F(FlowTest, ANewFlowHasItsShareFourTimesAsSoonAndIsLikeAnyOtherFromThenOn) {
  const auto change_of_new = [&](double missing, double delays) {
    start_refused(20);
    return change_from_here(20, missing, delays);
  };
  EXPECT_NEAR(change_of_new(0.7, 1), 0.7 * (1 - std::exp(-1 / 1.25)), 1e-5);
  EXPECT_NEAR(change_of_new(0.2, 1), 0.2 * (1 - std::exp(-1 / 1.25)), 1e-5);
  EXPECT_NEAR(change_of_new(-0.7, 1), -0.7 * (1 - std::exp(-1.0 / 5)), 1e-5) << "upwards only";
  EXPECT_NEAR(change_from_here(20, 0.7, 1), 0.7 * (1 - std::exp(-1.0 / 5)), 1e-5) << "it had its share before";
}

TEST_F(FlowTest, TheDelayIsThatOfThePrice) {
  const double slow = change(20, 0.5, 1);
  delay = 5ms;
  EXPECT_NEAR(change(20, 0.5, 1), slow, 1e-6) << "in delays";
}

TEST_F(FlowTest, WhatIsMissingBeyondEFoldIsHalvedInADelay) {
  // Of four e-folds three are beyond the first.
  EXPECT_NEAR(change(20, -4, 1), -4 + (1 + 3 * 0.5) * std::exp(-1.0 / 5), 1e-5);
  EXPECT_NEAR(change(20, 4, 1), 4 - (1 + 3 * 0.5) * std::exp(-1.0 / 5), 1e-5);
  age = 1999ms;
  EXPECT_NEAR(change(20, 4, 1), 4 - 4 * std::exp(-1.0 / 5), 1e-5) << "a young price may rise yet";
  EXPECT_NEAR(change(20, -4, 1), -4 + (1 + 3 * 0.5) * std::exp(-1.0 / 5), 1e-5) << "downwards nobody waits";
}

TEST_F(FlowTest, FlowsThatPayTheSameEarnTheSameInTheEnd) {
  Flow other;
  start_refused(30);
  flow.keep_rate(1, 100);
  refuse_for(20s, 30);
  std::swap(flow, other);
  start_refused(30);
  flow.keep_rate(1, 0.001);
  refuse_for(20s, 30, 50ms);
  EXPECT_NEAR(flow.salary() / other.salary(), 1, 1e-6) << "wherever they began, and however often they are looked at";
  EXPECT_NEAR(flow.earning(), balance(30) / 30, 1e-3);
}

TEST_F(FlowTest, AFlowThatIsNotRefusedTendsToBalanceAsWellButDoesNotGrowOnAnIdleWay) {
  ASSERT_TRUE(enter(1));
  const double before = flow.salary();
  for (int i = 0; i < 20; ++i) {
    now += 1s;
    ASSERT_TRUE(enter(1));
  }
  EXPECT_EQ(flow.salary(), before);
  for (int i = 0; i < 20; ++i) {
    now += 1s;
    ASSERT_TRUE(enter(100));
  }
  EXPECT_NEAR(flow.salary() / balance(100), 1, 1e-3);
}

TEST_F(FlowTest, TheRateStaysWhereAPartOfThePriceBeginsOrCeases) {
  start_refused(20);
  const double rate = flow.earning();
  flow.keep_rate(20, 50);
  review(50);
  EXPECT_NEAR(flow.earning(), rate, 1e-9);
  flow.keep_rate(50, 3);
  review(3);
  EXPECT_NEAR(flow.earning(), rate, 1e-9);
}

TEST_F(FlowTest, WhereAnIdleWayBeginsToCostSomethingTheRateIsHalvedAndNoMoreThanThatOfBalance) {
  start_refused();
  refuse_for(300ms, 1);
  const double rate = flow.earning();
  Flow other = flow;
  flow.meet_onset(config, 1, 5);
  review(5);
  EXPECT_NEAR(flow.earning(), rate / 2, 1e-9);
  flow = other;
  flow.meet_onset(config, 1, 50);
  review(50);
  ASSERT_LT(balance(50) / 50, rate / 2);
  EXPECT_NEAR(flow.earning(), balance(50) / 50, 1e-9);
}

TEST_F(FlowTest, ANewFlowHasNoRateToKeep) {
  flow.meet_onset(config, 0, 20);
  EXPECT_EQ(flow.salary(), 0);
  ASSERT_TRUE(enter(20));
  EXPECT_NEAR(flow.salary(), balance(20) / 2, 1e-6);
}

TEST_F(FlowTest, OneLookMakesUpForLittleOnAnIdleWay) {
  start_refused();
  const double before = flow.salary();
  now += 1h;
  enter(1);
  EXPECT_LE(flow.salary(), 3 * before) << "what was idle so long does not come back with an hour's growth";
}

TEST_F(FlowTest, TheSalaryStaysWithinBounds) {
  start_refused(1e12);
  refuse_for(100s, 1e12, 50ms);
  EXPECT_GT(flow.salary(), 0);
  delay = 1ms;
  start_refused();
  refuse_for(10s, 1);
  EXPECT_TRUE(std::isfinite(flow.earning()));
}

TEST_F(FlowTest, WaitingForRoomIsNoReasonToGrow) {
  ASSERT_TRUE(enter(1));
  const double before = flow.salary();
  for (int i = 0; i < 100; ++i) {
    now += 100ms;
    accrue();
    flow.wait_for_room(now);
    now += 100ms;
    ASSERT_TRUE(enter(1));
  }
  EXPECT_EQ(flow.salary(), before) << "it had the dollars all the time";
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
  EXPECT_EQ(flow.credit(), 0);
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
  ASSERT_TRUE(enter(1));
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
