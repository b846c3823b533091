// GSC's rules, one by one: what a source makes of losses.
#include "daemon/feed/rate.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "daemon/feed/pacer.h"

namespace spindled {
namespace {

constexpr std::size_t kPacket = 1000;

/// As the paper has it, at 100 packets a second, with round trips that are known to be 100 ms.
FeedRateConfig paper() {
  FeedRateConfig config;
  config.packet_bytes = kPacket;
  config.round_trip = 100ms;
  config.start = false;
  config.first_rate = 100 * kPacket;
  config.worst_path = false;
  config.like_tcp = false;
  config.increase_deviations = 2;
  return config;
}

/// A source that sends at the rate that it has, and listeners that say what they lack.
class Source {
 public:
  explicit Source(const FeedRateConfig& config, const FeedTree* tree = nullptr)
      : rate(Time(1s), config, Random(1), tree) {}
  Time now() const { return now_; }
  Duration since_start() const { return now_ - Time(1s); }
  void pass(Duration duration) {
    now_ += duration;
    rate.advance(now_);
  }
  std::uint64_t send(std::size_t bytes = kPacket) {
    rate.sent(now_, next_, bytes);
    return next_++;
  }
  /// Packets that are sent one by one, at the rate, for so long.
  void stream(Duration duration) {
    const Time until = now_ + duration;
    while (now_ < until) {
      send();
      pass(std::min(from_seconds(kPacket / rate.rate()), until - now_));
    }
  }
  bool lose(std::vector<std::uint64_t> sequences, FeedReporter reporter = 1, bool is_first_try = true,
            Duration held = {}) {
    LossReport report;
    report.mean_round_trip = mean_round_trip;
    report.reporter = reporter;
    report.held = held;
    report.is_first_try = is_first_try;
    report.late_by = late_by;
    report.late_at = late_at;
    report.sequences = sequences;
    report.heard = sequences.empty() ? 0 : sequences.back() + 1;
    return rate.lost(now_, report);
  }
  /// One is sent, and is known to be lost a round trip later.
  bool send_lost(Duration round_trip, FeedReporter reporter = 1) {
    const std::uint64_t sequence = send();
    send();
    pass(round_trip);
    return lose({sequence}, reporter);
  }
  FeedRate rate;
  Duration mean_round_trip{};  // that NAKs tell
  Duration late_by{};          // as LossReport has it
  Time late_at{};

 private:
  Time now_{1s};
  std::uint64_t next_ = 0;
};

TEST(FeedRate, IsHalvedByTheFirstLossAndHeldForAnEpoch) {
  Source source(paper());
  EXPECT_TRUE(source.send_lost(100ms));
  EXPECT_DOUBLE_EQ(source.rate.rate(), 50 * kPacket);
  // The silence is half of the round trip. The deviation of before was 50 ms, and that of after is a quarter less.
  EXPECT_EQ(source.rate.silent_until(), source.now() + 50ms);
  source.pass(50ms + 100ms + 4 * 37'500us - 1ns);
  EXPECT_TRUE(source.rate.is_congested(source.now()));
  EXPECT_DOUBLE_EQ(source.rate.rate(), 50 * kPacket);
  source.pass(1ns);
  EXPECT_FALSE(source.rate.is_congested(source.now()));
  EXPECT_EQ(source.rate.epochs(), 1u);
}

TEST(FeedRate, IgnoresLossesOfAnEpoch) {
  Source source(paper());
  const std::uint64_t first = source.send(), second = source.send();
  source.pass(100ms);
  EXPECT_TRUE(source.lose({first}));
  source.pass(150ms);
  EXPECT_FALSE(source.lose({second}, 2)) << "whoever tells of it";
  EXPECT_EQ(source.rate.epochs(), 1u);
}

TEST(FeedRate, NextLossAfterAnEpochBeginsAnother) {
  Source source(paper());
  source.send_lost(100ms);
  source.pass(400ms);
  const double rate = source.rate.rate();
  EXPECT_TRUE(source.send_lost(100ms));
  EXPECT_LT(source.rate.rate(), 0.65 * rate);
  EXPECT_EQ(source.rate.epochs(), 2u);
}

TEST(FeedRate, LossThatIsKnownIsNoSignal) {
  Source source(paper());
  const std::uint64_t lost = source.send();
  source.send();
  source.pass(100ms);
  EXPECT_TRUE(source.lose({lost}));
  source.pass(1s);
  EXPECT_FALSE(source.lose({lost}, 2)) << "an old NAK, after the epoch";
  EXPECT_FALSE(source.lose({lost}, 1, false)) << "a second try";
  EXPECT_TRUE(source.lose({lost, lost + 1})) << "one of them is new";
}

TEST(FeedRate, LossOfWhatWasNeverSentIsNone) {
  Source source(paper());
  source.send();
  EXPECT_FALSE(source.lose({1'000}));
  EXPECT_FALSE(source.lose({}));
  EXPECT_EQ(source.rate.epochs(), 0u);
}

TEST(FeedRate, GrowsByAPacketInARoundTripForEachRoundTrip) {
  FeedRateConfig config = paper();
  config.increase_deviations = 0;
  Source source(config);
  source.stream(1050ms);
  EXPECT_NEAR(source.rate.rate(), (100 + 10 * 10) * kPacket, 1);
  // With two deviations of 50 ms it takes twice as long, and is half as much each time.
  Source slower(paper());
  slower.stream(1050ms);
  EXPECT_NEAR(slower.rate.rate(), (100 + 5 * 5) * kPacket, 1);
}

TEST(FeedRate, MeasuresRoundTripsAsTcpDoes) {
  Source source(paper());
  source.send_lost(180ms);
  EXPECT_EQ(source.rate.round_trip(), 110ms);
  EXPECT_EQ(source.rate.deviation(), 57'500us);
}

TEST(FeedRate, TakesOffWhatNaksWereHeld) {
  Source source(paper());
  const std::uint64_t lost = source.send();
  source.send();
  source.pass(200ms);
  source.lose({lost}, 1, true, 100ms);
  EXPECT_EQ(source.rate.round_trip(), 100ms);
}

TEST(FeedRate, MeasuresFirstTriesOnly) {
  Source source(paper());
  const std::uint64_t lost = source.send();
  source.send();
  source.pass(500ms);
  EXPECT_TRUE(source.lose({lost}, 1, false)) << "it is a signal all the same";
  EXPECT_EQ(source.rate.round_trip(), 100ms);
}

TEST(FeedRate, MeasuresOnlyWhatIsKnownWhereItsDaemonHasStoodStill) {
  struct Case {
    Duration after;    // the packet was sent, for so long,
    Duration late_by;  // this daemon stood still
    Duration measured;
  };
  for (const Case& each : {Case{50ms, 850ms, 0ms},     // 50 to 900 ms, as far as anybody knows
                           Case{180ms, 720ms, 180ms},  // 180 ms at least
                           Case{30ms, 50ms, 80ms}}) {  // 80 ms at most
    Source source(paper());
    const std::uint64_t lost = source.send();
    source.send();
    source.pass(each.after + each.late_by);
    source.late_by = each.late_by;
    source.late_at = source.now();
    EXPECT_TRUE(source.lose({lost})) << "it is a signal all the same";
    const Duration before = 100ms, sample = each.measured == 0ms ? before : each.measured;
    EXPECT_EQ(source.rate.round_trip(), before + (sample - before) / 8);
    EXPECT_EQ(source.rate.deviation() == before / 2, each.measured == 0ms);
    // What is sent from then on has nothing to do with it.
    const Duration mean = source.rate.round_trip();
    source.send_lost(180ms);
    EXPECT_EQ(source.rate.round_trip(), mean + (180ms - mean) / 8);
  }
}

TEST(FeedRate, OldNaksAreSamplesToo) {
  Source source(paper());
  const std::uint64_t lost = source.send();
  source.send();
  source.pass(100ms);
  source.lose({lost}, 1);
  source.pass(80ms);
  source.lose({lost}, 2);
  EXPECT_EQ(source.rate.round_trip(), 110ms) << "the longer way of the second listener";
}

TEST(FeedRate, DropsNineInTenOfTheShortSamples) {
  int taken = 0;
  Source source(paper());
  for (int i = 0; i < 1000; ++i) {
    source.pass(100ms);
    const Duration before = source.rate.round_trip();
    source.send_lost(before / 2 - 1us);
    taken += source.rate.round_trip() < before ? 1 : 0;
    // Back to what it was.
    while (source.rate.round_trip() < 100ms) source.send_lost(150ms);
  }
  EXPECT_NEAR(taken, 100, 30);
}

TEST(FeedRate, PaperMeasuresTheLostPacketAndTcpTheOneThatShowsIt) {
  for (const bool like_tcp : {false, true}) {
    FeedRateConfig config = paper();
    config.like_tcp = like_tcp;
    Source source(config);
    const std::uint64_t lost = source.send();
    source.pass(80ms);
    source.send();
    source.pass(100ms);
    source.lose({lost});
    EXPECT_EQ(source.rate.round_trip(), like_tcp ? 100ms : 110ms);
  }
}

TEST(FeedRate, IsNeverLessThanAPacketInAnEpoch) {
  Source source(paper());
  for (int i = 0; i < 20; ++i) {
    source.send_lost(100ms);
    source.pass(source.rate.round_trip() * 3 / 2 + 4 * source.rate.deviation());
  }
  EXPECT_GE(source.rate.rate(), kPacket / to_seconds(source.rate.round_trip() + 4 * source.rate.deviation()));
  EXPECT_GT(source.rate.epochs(), 15u);
}

// Beside TCP.

FeedRateConfig like_tcp() {
  FeedRateConfig config = paper();
  config.like_tcp = true;
  config.increase_deviations = 0;
  return config;
}

TEST(FeedRate, BesideTcpALossLeavesALittleMoreThanAHalf) {
  Source source(like_tcp());
  const double before = source.rate.rate();
  source.send_lost(100ms);
  EXPECT_NEAR(source.rate.rate(), FeedRate::kLeftLikeTcp * before, 0.001 * before);
}

TEST(FeedRate, BesideTcpGrowsByARoundTripBetweenThoseWithAndWithoutQueues) {
  Source source(like_tcp());
  while (source.rate.round_trip() < 179ms) source.send_lost(180ms);
  source.pass(source.rate.silent_until() + 4 * source.rate.deviation() + 200ms - source.now());
  // 179 ms where queues are long and 100 ms where there are none, and two packets.
  const double before = source.rate.rate();
  const double weight = FeedRate::kQueueWeight;
  const double interval_s = weight * to_seconds(source.rate.round_trip()) + (1 - weight) * 0.1 + 2 * kPacket / before;
  source.pass(source.rate.next_at() - source.now());
  EXPECT_NEAR(source.rate.rate() - before, kPacket / interval_s, 0.01 * kPacket / interval_s);
}

TEST(FeedRate, BesideTcpGrowsByTheMeanRoundTripOfThePathWhereItIsKnown) {
  struct Case {
    Duration mean;
    double interval_s;  // without that of two packets
  };
  // The round trip on losses is 179 ms, and 100 ms without queues: 136 to 143 ms are between both.
  const auto between = [](double weight) { return 0.1 + weight * 0.079; };
  for (const Case& each : {Case{155ms, FeedRate::kMeanWeight * 0.155},
                           {110ms, between(FeedRate::kQueueWeight)},
                           {900ms, between(FeedRate::kQueueWeightMax)},
                           {0ms, between(FeedRate::kQueueWeight)}}) {
    Source source(like_tcp());
    source.mean_round_trip = 155ms;  // of before
    while (source.rate.round_trip() < 179ms) source.send_lost(180ms);
    source.mean_round_trip = each.mean;
    source.send_lost(180ms);
    source.pass(source.rate.silent_until() + 4 * source.rate.deviation() + 200ms - source.now());
    const double before = source.rate.rate();
    const double interval_s = each.interval_s + 2 * kPacket / before;
    source.pass(source.rate.next_at() - source.now());
    EXPECT_NEAR(source.rate.rate() - before, kPacket / interval_s, 0.01 * kPacket / interval_s) << each.mean / 1ms;
  }
}

TEST(FeedRate, TheMeanRoundTripIsThatOfTheWorstPath) {
  const auto growth_after = [](Duration other_mean) {
    FeedRateConfig config = like_tcp();
    config.worst_path = true;
    Source source(config);
    source.mean_round_trip = 155ms;
    while (source.rate.round_trip() < 179ms) source.send_lost(180ms);
    source.mean_round_trip = other_mean;
    source.lose({source.send()}, 2);
    source.pass(source.rate.silent_until() + 4 * source.rate.deviation() + 200ms - source.now());
    const double before = source.rate.rate();
    source.pass(source.rate.next_at() - source.now());
    return source.rate.rate() - before;
  };
  EXPECT_DOUBLE_EQ(growth_after(110ms), growth_after(155ms));
}

TEST(FeedRate, BesideTcpIsSilentForATimeoutWhereFewPacketsAreOnTheirWay) {
  Source many(like_tcp());
  many.send_lost(100ms);
  EXPECT_EQ(many.rate.silent_until(), many.now() + 50ms);
  FeedRateConfig config = like_tcp();
  config.first_rate = 39 * kPacket;
  Source few(config);
  few.send_lost(100ms);
  EXPECT_EQ(few.rate.silent_until(), few.now() + FeedRate::kTimeout);
}

// The start.

FeedRateConfig with_start() {
  FeedRateConfig config;
  config.packet_bytes = kPacket;
  config.round_trip = 100ms;
  return config;
}

TEST(FeedRate, StartsWithFourPacketsInARoundTripAndDoubles) {
  Source source(with_start());
  EXPECT_DOUBLE_EQ(source.rate.rate(), 40 * kPacket);
  EXPECT_EQ(source.rate.limited_by(), FeedLimit::start);
  source.stream(1510ms);
  EXPECT_NEAR(source.rate.rate(), 320 * kPacket, 1);
}

TEST(FeedRate, FirstLossHalvesTheRateThatThePacketWasSentAt) {
  Source source(with_start());
  source.stream(600ms);
  ASSERT_NEAR(source.rate.rate(), 80 * kPacket, 1);
  const std::uint64_t lost = source.send();
  source.stream(1s);
  ASSERT_NEAR(source.rate.rate(), 320 * kPacket, 1) << "a long queue: the loss shows late";
  EXPECT_TRUE(source.lose({lost}));
  EXPECT_NEAR(source.rate.rate(), 40 * kPacket, 1);
  EXPECT_EQ(source.rate.limited_by(), FeedLimit::link);
  source.stream(5s);
  EXPECT_LT(source.rate.rate(), 300 * kPacket) << "it does not double any more";
}

TEST(FeedRate, GrowsToTwiceWhatIsSentAndNoFurther) {
  Source source(with_start());
  for (int i = 0; i < 1000; ++i) {
    source.send();
    source.pass(10ms);
  }
  EXPECT_NEAR(source.rate.rate(), 200 * kPacket, 41 * kPacket);
  EXPECT_EQ(source.rate.limited_by(), FeedLimit::source);
}

TEST(FeedRate, KeepsToItsMaximum) {
  FeedRateConfig config = with_start();
  config.rate_max = 100 * kPacket;
  Source source(config);
  source.stream(3s);
  EXPECT_DOUBLE_EQ(source.rate.rate(), 100 * kPacket);
  EXPECT_EQ(source.rate.limited_by(), FeedLimit::maximum);
}

TEST(FeedRate, OfAnIdleSourceFallsToThatOfTheStart) {
  Source source(with_start());
  source.stream(1600ms);
  ASSERT_NEAR(source.rate.rate(), 320 * kPacket, 1);
  source.pass(900ms);
  EXPECT_NEAR(source.rate.rate(), 320 * kPacket, 1);
  source.pass(600ms);
  EXPECT_NEAR(source.rate.rate(), 160 * kPacket, 1);
  source.pass(1h);
  EXPECT_DOUBLE_EQ(source.rate.rate(), 40 * kPacket);
}

// Paths.

TEST(FeedRate, ObeysTheWorstPathOnly) {
  FeedRateConfig config = with_start();
  Source source(config);
  // Of both each packet in a hundred is lost; the first listener was the first to say so.
  int obeyed[3] = {};
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t sequence = source.send();
    source.send();
    source.pass(10ms);
    for (const int reporter : {1, 2}) {
      if (i % 100 == 30 * reporter) obeyed[reporter] += source.lose({sequence}, static_cast<FeedReporter>(reporter));
    }
  }
  EXPECT_EQ(obeyed[1], 40);
  EXPECT_EQ(obeyed[2], 0);
  EXPECT_EQ(source.rate.paths().leader(), 1u);
  EXPECT_NEAR(source.rate.loss(), 0.005, 0.0005);
}

TEST(FeedRate, LossThatOthersHaveToldOfIsOneWhenTheWorstPathTellsOfIt) {
  Source source(with_start());
  source.send_lost(100ms, 1);
  source.pass(1s);
  const std::uint64_t lost = source.send();
  source.send();
  source.pass(100ms);
  EXPECT_FALSE(source.lose({lost}, 2));
  EXPECT_TRUE(source.lose({lost}, 1));
}

// The floor.

/// A link with a queue that drops its tail, and that loses packets at random besides.
struct Path {
  double loss = 0;
  double bytes_per_second = 1e9;
  double queue_packets = 1e9;
  Duration round_trip = 1ms;
};

/// Bytes a second of a source that has `wanted` of them, in the last 30 of 60 seconds.
double achieved(const Path& path, double wanted, double rate_min) {
  struct Told {
    Time at{}, heard_at{};
    std::vector<std::uint64_t> lost;
  };
  FeedRateConfig config;
  config.packet_bytes = kPacket;
  config.round_trip = path.round_trip;
  config.rate_min = rate_min;
  const Time begin(1h);
  FeedRate rate(begin, config, Random(1));
  Random random(2);
  FeedPacer pacer;
  double waiting = 0, queue = 0, sent = 0;
  std::uint64_t next = 0;
  std::vector<std::uint64_t> lost;
  std::deque<Told> told;
  for (Time now = begin; now < begin + 60s; now += 100us) {
    for (; !told.empty() && told.front().at <= now; told.pop_front()) {
      LossReport report;
      report.reporter = 1;
      report.heard = told.front().lost.back() + 1;
      report.sequences = told.front().lost;
      rate.lost(now, report);
    }
    rate.advance(now);
    pacer.set_rate(now, rate.pace(), rate.silent_until());
    queue = std::max(queue - path.bytes_per_second * 1e-4, 0.0);
    waiting = std::min(waiting + wanted * 1e-4, 2.0 * kPacket);
    while (waiting >= kPacket && pacer.may_send(now)) {
      pacer.sent(kPacket);
      rate.sent(now, next, kPacket);
      waiting -= kPacket;
      if (now >= begin + 30s) sent += kPacket;
      if (random.chance(path.loss) || queue > path.queue_packets * kPacket) {
        lost.push_back(next++);
        continue;
      }
      queue += kPacket;
      ++next;
      if (lost.empty()) continue;
      told.push_back({now + path.round_trip + from_seconds(queue / path.bytes_per_second), now, std::move(lost)});
      lost.clear();
    }
  }
  return sent / 30;
}

TEST(FeedRate, FloorIsNotSilentWhereLossesShowNoCongestion) {
  FeedRateConfig config = like_tcp();
  config.rate_min = 2 * kPacket;
  Source source(config);
  for (int i = 0; i < 200; ++i) source.send();
  EXPECT_TRUE(source.send_lost(100ms));
  EXPECT_EQ(source.rate.silent_until(), source.now());
  EXPECT_DOUBLE_EQ(source.rate.pace(), config.rate_min) << "as long as the silence would last";
  source.pass(50ms);
  EXPECT_GT(source.rate.pace(), config.rate_min);
}

TEST(FeedRate, LeavesLittleWherePacketsAreLostAtRandomWithoutAFloor) {
  EXPECT_LT(achieved({.loss = 0.1}, 50e3, 0), 35e3);
  EXPECT_LT(achieved({.loss = 0.1}, 1e6, 0), 100e3);
}

TEST(FeedRate, LeavesTheFloorToWhoWantsLittle) {
  for (const double loss : {0.01, 0.05, 0.1, 0.12}) {
    EXPECT_GT(achieved({.loss = loss}, 50e3, 100e3), 44e3) << loss;
    EXPECT_GT(achieved({.loss = loss}, 20e3, 100e3), 19e3) << loss;
    EXPECT_GT(achieved({.loss = loss}, 10e6, 100e3), 95e3) << loss;
    EXPECT_GT(achieved({.loss = loss, .round_trip = 50ms}, 50e3, 100e3), 45e3) << loss;
  }
}

TEST(FeedRate, FloorGivesWhoWantsMuchHardlyMoreThanItself) {
  for (const double loss : {0.02, 0.05, 0.1}) {
    EXPECT_LT(achieved({.loss = loss}, 10e6, 100e3), 1.25 * achieved({.loss = loss}, 10e6, 0) + 110e3) << loss;
  }
}

TEST(FeedRate, FloorIsNoneWhereALinkCarriesLess) {
  for (const double carried : {10e3, 30e3, 60e3}) {
    for (const double packets : {1.0, 3.0, 20.0, 125.0}) {
      const Path path{.bytes_per_second = carried, .queue_packets = packets};
      const double with = achieved(path, 1e6, 100e3), without = achieved(path, 1e6, 0);
      EXPECT_LT(with, std::max(carried, 1.3 * without) + 5e3) << carried << ' ' << packets;
    }
  }
}

}  // namespace
}  // namespace spindled
