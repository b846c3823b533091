// The control law of a link's price: when it begins and ends, what it answers, and that the loop which it closes
// settles.
#include "daemon/admission/link_price.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

namespace spindled {
namespace {

/// A link that takes `rate` packets a second, looked at every millisecond, or more often where it is fast.
struct Link {
  explicit Link(double packets_per_s, Duration round_trip = 20ms, Duration own_round_trip = 0ms) : rate(packets_per_s) {
    price.start(now, round_trip, own_round_trip, {});
  }

  /// A turn in which so many packets come, fractions being kept for the next.
  bool turn(double coming, Duration passed = 1ms) {
    now += passed;
    queue += coming;
    const double room = rate * to_seconds(passed) + spare;
    const double leaving = std::min(std::floor(room), std::floor(queue));
    spare = queue - leaving >= 1 ? room - leaving : 0;
    queue -= leaving;
    departed += static_cast<std::uint64_t>(leaving);
    squares += static_cast<std::uint64_t>(leaving * frame);
    return price.observe(now, {static_cast<std::size_t>(queue), departed, squares});
  }
  /// Packets come at that rate.
  void run(Duration duration, double arrivals, Duration step = 1ms) {
    for (const Time end = now + duration; now < end;) turn(arrivals * to_seconds(step), step);
  }
  /// A queue stands, and the price with it, for a while.
  void congest() {
    run(20ms, 0);
    queue = price.aim_packets();
    run(100ms, rate);
    ASSERT_TRUE(price.costs());
    while (price.dollars() < 4 * first_price()) run(price.interval(), 1.2 * rate);  // as many share it
    queue = price.aim_packets();
    run(3 * price.delay(), rate);
  }
  /// With the fee of a dollar one sender fills the link.
  double first_price() const { return 2 * std::cbrt(1e6 / rate) - 1; }

  AdmissionConfig config;
  double rate;
  double frame = 1;
  Time now{100s};
  double queue = 0, spare = 0;
  std::uint64_t departed = 0, squares = 0;
  LinkPrice price{config};
};

TEST(LinkPrice, ALinkWithoutAQueueCostsNothing) {
  Link link(1000);
  link.run(5s, 900);
  EXPECT_FALSE(link.price.costs());
  EXPECT_EQ(link.price.dollars(), 0);
  EXPECT_EQ(link.price.next_deadline(), kNever);
}

TEST(LinkPrice, AQueueThatIsGoneInAMomentCostsNothing) {
  Link link(10'000);
  for (int i = 0; i < 100; ++i) {
    link.turn(40);
    link.run(50ms, 0);
  }
  EXPECT_FALSE(link.price.costs());
}

TEST(LinkPrice, BeginsWithWhatOneSenderWouldFillTheLinkAtWhereTheQueueIsLong) {
  for (const double rate : {20.0, 1000.0, 100'000.0}) {
    Link link(rate);
    link.turn(10'000);
    EXPECT_EQ(link.price.next_deadline(), link.now + 5ms) << "a long queue";
    link.run(5ms, rate);
    ASSERT_TRUE(link.price.costs()) << rate;
    // How fast the link is, is known to within a packet by then.
    EXPECT_NEAR(std::log(link.price.dollars() / link.first_price()), 0, rate < 1000 ? 1 : 0.1) << rate;
  }
}

TEST(LinkPrice, BeginsLaterAndWithLessWhereTheQueueIsShort) {
  Link link(1000);
  link.turn(30);
  EXPECT_EQ(link.price.next_deadline(), link.now + 12'500us) << "nobody knows how fast the link is";
  link.run(12ms, 1000);
  EXPECT_FALSE(link.price.costs());
  link.run(1ms, 1000);
  ASSERT_TRUE(link.price.costs());
  EXPECT_NEAR(link.price.dollars(), link.first_price() / 2, 0.5);

  // Once more, when it is known.
  link.run(10s, 0);
  ASSERT_FALSE(link.price.costs());
  link.turn(30);
  EXPECT_EQ(link.price.next_deadline(), link.now + 5ms);
  link.run(5ms, 1000);
  EXPECT_TRUE(link.price.costs());
}

TEST(LinkPrice, OverALongWayItIsAwaitedWhatALinkTakesInARoundTrip) {
  Link link(1000, 300ms, 100ms);
  link.turn(200);
  EXPECT_EQ(link.price.next_deadline(), link.now + 100ms);
  link.run(99ms, 1000);
  EXPECT_FALSE(link.price.costs());
  link.run(1ms, 1000);
  EXPECT_TRUE(link.price.costs());
}

TEST(LinkPrice, ALinkThatTakesNothingCostsTheMoreTheLonger) {
  Link link(0);
  link.turn(200);
  link.run(20ms, 0);
  const double first = link.price.dollars();
  EXPECT_GT(first, 0);
  link.run(10s, 0);
  EXPECT_GT(link.price.dollars(), 3 * first);
  EXPECT_TRUE(std::isfinite(link.price.dollars()));
  // What waited is given up.
  link.queue = 0;
  link.run(60s, 0);
  EXPECT_FALSE(link.price.costs());
}

TEST(LinkPrice, IsSetTheMoreOftenTheFasterTheLinkIs) {
  const auto interval = [](double rate, Duration round_trip) {
    Link link(rate, round_trip);
    link.congest();
    return to_seconds(link.price.interval());
  };
  EXPECT_NEAR(interval(178, 0ms), 0.05, 0.002) << "T_min";
  EXPECT_NEAR(interval(44.5, 0ms), 0.2, 0.01) << "in proportion";
  EXPECT_NEAR(interval(17'800, 0ms), 0.005, 0.0002) << "by the root";
  EXPECT_NEAR(interval(17'800, 200ms), 0.05, 0.0001) << "a quarter of the round trip at least";
}

TEST(LinkPrice, TheQueueThatIsAimedAtIsTimePacketsOrFrames) {
  const auto aim = [](double rate, double frame) {
    Link link(rate);
    link.frame = frame;
    link.congest();
    return link.price.aim_packets();
  };
  EXPECT_NEAR(aim(178, 1), 24, 0.01);
  EXPECT_NEAR(aim(20'000, 1), 100, 2) << "5 ms";
  EXPECT_NEAR(aim(1000, 8), 40, 1) << "five frames";
}

TEST(LinkPrice, RisesWithWhatComesBeyondWhatTheLinkTakesAndFallsWithWhatIsMissing) {
  Link more(1000), same(1000), less(1000);
  const auto change = [](Link& link, double arrivals) {
    link.congest();
    const double before = link.price.dollars();
    link.run(link.price.delay(), arrivals);
    return std::log(link.price.dollars() / before);
  };
  EXPECT_NEAR(change(more, 1100), 0.04, 0.02) << "0.4 of a tenth, and a little for the queue";
  EXPECT_NEAR(change(same, 1000), 0, 0.02);
  EXPECT_NEAR(change(less, 900), -0.04, 0.02);
}

TEST(LinkPrice, RisesWhileTheQueueTakesLongerThanIsAimedAt) {
  Link link(1000);
  link.congest();
  const double before = link.price.dollars();
  link.queue += 0.5 * 1000 * to_seconds(link.price.delay());  // half a delay more
  link.turn(1);
  const double jumped = std::log(link.price.dollars() / before);
  link.run(link.price.delay() * 4, 1000);
  EXPECT_NEAR(std::log(link.price.dollars() / before) - jumped, 4 * 0.08 * 0.5 + 0.4 * 0.5, 0.1);
}

TEST(LinkPrice, ALargeExcessIsAnsweredAtOnceAndOnce) {
  Link link(1000);
  link.congest();
  const double before = link.price.dollars();
  link.run(link.price.interval(), 10'000);
  EXPECT_GT(link.price.dollars(), 2 * before);
  link.run(link.price.delay() - 2 * link.price.interval(), 10'000);
  EXPECT_NEAR(std::log(link.price.dollars() / before), std::log(10), 0.7) << "by its logarithm";
  link.run(link.price.delay(), 10'000);
  EXPECT_GT(std::log(link.price.dollars() / before), std::log(10) + 0.7) << "and again when nobody has answered";
}

TEST(LinkPrice, IsBoundedHoweverLongTheQueueIs) {
  Link link(1000);
  link.congest();
  link.queue = 1e6;
  const double before = link.price.dollars();
  link.run(10 * link.price.delay(), 500);
  // What has piled up is to leave, with a price that rises by a sixth of an e-fold in a delay at most.
  EXPECT_LT(std::log(link.price.dollars() / before), std::log(1e6) + 10 * 0.25);
  link.run(100s, 1e6);
  EXPECT_TRUE(std::isfinite(link.price.dollars()));
}

TEST(LinkPrice, FallsToHalfOfTheFirstAndEndsWhenTheLinkHasBeenFreeForLong) {
  Link link(1000);
  link.congest();
  link.run(10 * link.price.delay(), 0);
  EXPECT_TRUE(link.price.costs());
  const double least = link.first_price() / 2;
  EXPECT_GE(link.price.dollars(), 0.98 * least);
  link.run(11 * link.price.delay(), 0);
  EXPECT_FALSE(link.price.costs()) << "after twenty delays";
}

TEST(LinkPrice, OnTheFastestLinksAFifthOfWhatAPacketCostsIsTheLinks) {
  Link link(20e6);  // a sender that pays the fee alone sends eight million
  link.turn(1e7);
  link.run(5ms, link.rate);
  ASSERT_TRUE(link.price.costs());
  EXPECT_NEAR(link.price.dollars(), 0.2 * 2 * std::cbrt(1e6 / 20e6), 0.01);
}

TEST(LinkPrice, EndsSoonWhereItWasTheWindowThatOpened) {
  Link link(1000);
  link.turn(20);
  link.run(13ms, 1000);
  ASSERT_TRUE(link.price.costs());
  link.rate = 2500;
  link.run(link.price.delay() / 2, 0);
  link.run(3 * link.price.delay(), 2400);
  EXPECT_FALSE(link.price.costs()) << "it carries far more than it took then, without a queue";

  Link old(1000);
  old.congest();
  old.run(20 * old.price.delay(), 1000);
  old.rate = 2500;
  old.run(5 * old.price.delay(), 2400);
  EXPECT_TRUE(old.price.costs()) << "a link that has become faster is another matter";
}

TEST(LinkPrice, LastsWhileTheLinkIsNearlyUsed) {
  Link link(1000);
  link.congest();
  link.run(10s, 900);
  ASSERT_TRUE(link.price.costs());
  EXPECT_NEAR(link.price.dollars(), link.first_price() / 2, 0.5) << "though it is the least that it can be";
  link.run(10s, 700);
  EXPECT_FALSE(link.price.costs());
}

TEST(LinkPrice, FallsWhereMoreIsCarriedThanIsKnownThoughNoQueueStands) {
  for (const Duration round_trip : {1ms, 100ms}) {
    Link link(1000, round_trip);
    link.congest();
    const double before = link.price.dollars();
    link.rate = 4000;
    link.run(20ms, 0);  // the queue leaves
    const double known = link.price.known_rate();
    ASSERT_LT(known, 2500);
    link.run(10 * link.price.delay(), 1.05 * known);
    EXPECT_LT(link.price.dollars(), 0.8 * before) << round_trip.count();
  }
}

TEST(LinkPrice, ANewViewKeepsThePriceAndWhatIsKnownOfTheRate) {
  Link link(1000);
  link.congest();
  const double before = link.price.dollars();
  link.queue = 0;
  link.price.start(link.now, 60ms, 10ms, {0, link.departed, link.squares});
  EXPECT_EQ(link.price.dollars(), before);
  EXPECT_NEAR(link.price.known_rate(), 1000, 20);
  EXPECT_EQ(link.price.delay(), 60ms + 2 * link.price.interval());
}

TEST(LinkPrice, WhatIsDroppedIsNotMissing) {
  Link link(1000);
  link.congest();
  link.queue += 300;
  link.turn(1);
  const double before = link.price.dollars();
  link.queue = 24;  // a view was given up
  link.run(link.price.interval() + 1ms, 1000);
  EXPECT_GT(link.price.dollars(), 0.8 * before);
}

/// Flows of one price that answer it after half a round trip, and whose packets take as long to arrive; their salaries
/// tend to balance as Flow's do.
TEST(LinkPriceLoop, SettlesAtAnyRateAndDistance) {
  for (const double rate : {100.0, 1000.0, 10'000.0, 100'000.0}) {
    for (const Duration round_trip : {1ms, 20ms, 200ms}) {
      for (const double flows : {1.0, 50.0, 1000.0}) {
        Link link(rate, round_trip);
        link.congest();
        const Duration step = std::max<Duration>(100us, link.price.interval() / 20);
        std::deque<double> known(static_cast<std::size_t>(round_trip / 2 / step) + 1, link.price.dollars());
        std::deque<double> coming(known.size(), rate);
        const double delay_s = to_seconds(link.price.delay());
        double salary = rate / flows * link.price.dollars();  // far from what is right for so many
        const Duration settling = 300 * link.price.delay(), watched = 100 * link.price.delay();
        double waited = 0, longest = 0, idle = 0;
        for (Duration passed{}; passed < settling + watched; passed += step) {
          known.push_back(1 + link.price.dollars());
          const double price = known.front();
          known.pop_front();
          salary *= std::exp(to_seconds(step) / delay_s / 5 * std::log(2e6 * std::pow(2 / price, 2) / salary));
          coming.push_back(flows * salary / price);
          link.turn(coming.front() * to_seconds(step), step);
          coming.pop_front();
          if (passed < settling) continue;
          waited += link.queue * to_seconds(step);
          longest = std::max(longest, link.queue);
          idle += link.queue < 1 ? to_seconds(step) : 0;
        }
        const double aim = link.price.aim_packets();
        // A rate that is measured wrong by some thousandths shifts the queue by as many delays' worth.
        const double shift = 0.02 * rate * delay_s;
        EXPECT_NEAR(waited / to_seconds(watched), aim, 0.1 * aim + shift)
            << rate << ", " << round_trip / 1ms << ", " << flows;
        EXPECT_LT(longest, 2 * aim) << rate << ", " << round_trip / 1ms << ", " << flows;
        EXPECT_EQ(idle, 0) << rate << ", " << round_trip / 1ms << ", " << flows;
      }
    }
  }
}

}  // namespace
}  // namespace spindled
