// How packets of a feed are spread over time.
#include "daemon/feed/pacer.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

class Pacing {
 public:
  explicit Pacing(double rate) { pacer.set_rate(now, rate, Time{}); }
  /// Packets of 1,000 bytes that leave within the time.
  int send_for(Duration duration) {
    int sent = 0;
    for (const Time until = now + duration;;) {
      for (; pacer.may_send(now); ++sent) pacer.sent(1000);
      if (pacer.next_at() >= until) break;
      now = pacer.next_at();
    }
    return sent;
  }
  int send_now() {
    int sent = 0;
    for (; pacer.may_send(now); ++sent) pacer.sent(1000);
    return sent;
  }
  Time now{1s};
  FeedPacer pacer;
};

TEST(FeedPacer, LetsPacketsOutOneByOne) {
  Pacing pacing(100'000);
  ASSERT_TRUE(pacing.pacer.may_send(pacing.now));
  pacing.pacer.sent(1000);
  EXPECT_FALSE(pacing.pacer.may_send(pacing.now + 9ms));
  EXPECT_NEAR(to_seconds(pacing.pacer.next_at() - pacing.now), 0.01, 1e-8);
  EXPECT_TRUE(pacing.pacer.may_send(pacing.pacer.next_at()));
}

TEST(FeedPacer, KeepsTheRate) {
  EXPECT_NEAR(Pacing(100'000).send_for(10s), 1000, 2);
  EXPECT_NEAR(Pacing(50e6).send_for(1s), 50'000, 60);
}

TEST(FeedPacer, LetsAMillisecondsWorthOutAtOnce) {
  Pacing pacing(50e6);
  pacing.now += 1s;
  pacing.pacer.begin(pacing.now);
  EXPECT_EQ(pacing.send_now(), 51) << "what a pause has left unused is lost";
}

TEST(FeedPacer, MakesUpForTenMillisecondsOfWhoComesLate) {
  Pacing pacing(1e6);
  pacing.pacer.begin(pacing.now);
  pacing.send_now();
  pacing.now = pacing.pacer.next_at() + 7ms;
  EXPECT_EQ(pacing.send_now(), 8);
  pacing.now = pacing.pacer.next_at() + 1s;
  EXPECT_EQ(pacing.send_now(), 11);
}

TEST(FeedPacer, MakesUpForNothingWhereALossHasItSilent) {
  Pacing pacing(1e6);
  pacing.pacer.begin(pacing.now);
  pacing.send_now();
  pacing.now += 9ms;
  pacing.pacer.set_rate(pacing.now, 1e6, pacing.now + 50ms);
  EXPECT_EQ(pacing.send_now(), 0);
  pacing.now += 50ms;
  EXPECT_EQ(pacing.send_now(), 2) << "a millisecond's worth";
}

TEST(FeedPacer, IsSilent) {
  Pacing pacing(100'000);
  pacing.pacer.set_rate(pacing.now, 50'000, pacing.now + 70ms);
  EXPECT_FALSE(pacing.pacer.may_send(pacing.now));
  EXPECT_FALSE(pacing.pacer.may_send(pacing.now + 69ms));
  EXPECT_EQ(pacing.pacer.next_at(), pacing.now + 70ms);
  EXPECT_TRUE(pacing.pacer.may_send(pacing.now + 70ms));
}

TEST(FeedPacer, FollowsANewRate) {
  Pacing pacing(100'000);
  pacing.pacer.sent(1000);
  pacing.pacer.set_rate(pacing.now, 10'000, Time{});
  EXPECT_NEAR(to_seconds(pacing.pacer.next_at() - pacing.now), 0.1, 1e-8);
}

TEST(FeedPacer, QueuesTwentyMilliseconds) {
  EXPECT_EQ(Pacing(1e6).pacer.queue_bytes(1400), 20'000u);
  EXPECT_EQ(Pacing(1e4).pacer.queue_bytes(1400), 1400u) << "a packet in any case";
}

}  // namespace
}  // namespace spindled
