// How fast a link takes packets, by what leaves while others wait.
#include "daemon/admission/link_rate.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

struct LinkRateTest : testing::Test {
  LinkRateTest() { rate.start(now, 0ms, 0, 0); }
  /// So many leave, and so many wait after that.
  void pass(Duration passed, std::uint64_t leaving, std::size_t waiting) {
    departed += leaving;
    squares += leaving * frame;
    rate.observe(now += passed, waiting, departed, squares);
  }
  void run(Duration duration, std::uint64_t leaving_each_ms, std::size_t waiting) {
    for (const Time end = now + duration; now < end;) pass(1ms, leaving_each_ms, waiting);
  }

  Time now{100s};
  std::uint64_t departed = 0, squares = 0, frame = 1;
  LinkRate rate;
};

TEST_F(LinkRateTest, IsThatOfDeparturesWhileSomethingWaits) {
  run(1s, 5, 10);
  EXPECT_TRUE(rate.is_timed());
  EXPECT_NEAR(rate.packets_per_s(), 5000, 1);
  run(2s, 2, 0);
  EXPECT_NEAR(rate.packets_per_s(), 5000, 100) << "what passes an empty queue says nothing";
}

TEST_F(LinkRateTest, AQueueThatIsGoneAtOnceSaysNothing) {
  for (int i = 0; i < 100; ++i) {
    pass(1ms, 0, 50);
    pass(1ms, 50, 0);  // into what is below
    run(1s, 0, 0);
  }
  EXPECT_FALSE(rate.is_timed());
  EXPECT_LT(rate.packets_per_s(), 100);
}

TEST_F(LinkRateTest, ForgetsWhatItHasSeen) {
  run(1s, 10, 10);
  run(1s, 2, 10);
  EXPECT_NEAR(rate.packets_per_s(), 2000, 50);
  run(1s, 20, 10);
  EXPECT_NEAR(rate.packets_per_s(), 20'000, 500);
}

TEST_F(LinkRateTest, FollowsAChangeBeyondDoubtAtOnce) {
  run(1s, 20, 10);
  run(25ms, 5, 10);
  EXPECT_NEAR(rate.packets_per_s(), 5000, 100);
  run(1s, 5, 10);
  run(25ms, 20, 10);
  EXPECT_NEAR(rate.packets_per_s(), 20'000, 1000);
  run(1s, 20, 10);
  run(40ms, 10, 10);
  EXPECT_NEAR(rate.packets_per_s(), 10'000, 500);
}

TEST_F(LinkRateTest, AChangeIsNotBeyondDoubtWithinARoundTrip) {
  rate.start(now, 100ms, 0, 0);
  run(1s, 20, 10);
  run(50ms, 5, 10);
  EXPECT_GT(rate.packets_per_s(), 15'000);
  run(60ms, 5, 10);
  EXPECT_NEAR(rate.packets_per_s(), 5000, 300);
}

TEST_F(LinkRateTest, WhatIsHeldUpForAMomentHasNoOtherRate) {
  run(1s, 20, 10);
  run(30ms, 0, 10);
  EXPECT_GT(rate.packets_per_s(), 16'000);
}

TEST_F(LinkRateTest, OnASlowLinkRemembersPacketsRatherThanTime) {
  for (int i = 0; i < 100; ++i) {
    run(99ms, 0, 10);
    pass(1ms, 1, 10);
  }
  EXPECT_NEAR(rate.packets_per_s(), 10, 1.5);
}

TEST_F(LinkRateTest, ALinkTakesAtLeastWhatItHasCarried) {
  run(1s, 20, 0);
  EXPECT_FALSE(rate.is_timed());
  EXPECT_NEAR(rate.packets_per_s(), 20'000, 500);
  run(1s, 3, 10);
  EXPECT_NEAR(rate.packets_per_s(), 3000, 50) << "until a queue says what it is";
}

TEST_F(LinkRateTest, WhatWasNotTimedIsGuessedWhileSomethingWaits) {
  pass(1ms, 0, 10);
  run(4ms, 3, 10);
  EXPECT_FALSE(rate.is_timed());
  EXPECT_NEAR(rate.packets_per_s(), 3000, 1);
}

TEST_F(LinkRateTest, OverALongWayRemembersRoundTrips) {
  rate.start(now, 400ms, 0, 0);
  // A window's worth in each round trip.
  for (int i = 0; i < 20; ++i) {
    run(1ms, 400, 10);
    run(399ms, 0, 10);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(rate.packets_per_s(), 1000, 350);
    run(1ms, 400, 10);
    run(199ms, 0, 10);
    EXPECT_NEAR(rate.packets_per_s(), 1000, 350);
    run(200ms, 0, 10);
  }
}

TEST_F(LinkRateTest, ALinkThatTakesNothingTellsNothing) {
  run(1s, 0, 10);
  EXPECT_FALSE(rate.is_timed());
  EXPECT_LE(rate.packets_per_s(), 1.1) << "not a packet in a second";
  run(2ms, 0, 0);
  EXPECT_EQ(rate.packets_per_s(), 0);
}

TEST_F(LinkRateTest, KnowsHowLongFramesAre) {
  EXPECT_EQ(rate.packets_per_frame(), 1);
  frame = 8;
  run(1s, 8, 10);
  EXPECT_NEAR(rate.packets_per_frame(), 8, 0.01);
  // One long frame to nine short ones of a packet: most packets are in long ones.
  for (int i = 0; i < 2000; ++i) {
    frame = 72;
    pass(1ms, 72, 10);
    frame = 1;
    pass(1ms, 9, 10);
  }
  EXPECT_NEAR(rate.packets_per_frame(), (72.0 * 72 + 9) / 81, 1);
}

TEST_F(LinkRateTest, ANewViewKeepsIt) {
  run(1s, 5, 10);
  rate.start(now, 0ms, 0, 0);
  departed = squares = 0;
  EXPECT_NEAR(rate.packets_per_s(), 5000, 1);
  run(1s, 5, 10);
  EXPECT_NEAR(rate.packets_per_s(), 5000, 1);
}

}  // namespace
}  // namespace spindled
