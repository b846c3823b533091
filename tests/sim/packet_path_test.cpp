// Paths that carry packets: rates, queues, losses.
#include "tests/sim/packet_path.h"

#include <gmock/gmock.h>

#include <numeric>

namespace spindled::sim {
namespace {

using ::testing::ElementsAre;

/// A path, and what has come through it: the numbers of packets, and when.
class Line {
 public:
  explicit Line(const PacketPathProperties& properties, std::uint64_t seed = 1)
      : path(events, properties, seed), route_{&path} {}
  void send(std::size_t bytes = 1000) {
    const int number = sent_++;
    send_packet(route_, bytes, [this, number] {
      numbers.push_back(number);
      times.push_back(events.now() - start_);
    });
  }
  void run(Duration duration = 1h) {
    const Time until = events.now() + duration;
    while (events.step(until)) {
    }
    events.advance(until);
  }
  /// The share of `count` packets, one each millisecond, that does not come.
  double loss_of(int count) {
    for (int i = 0; i < count; ++i) {
      send();
      run(1ms);
    }
    run();
    return 1 - static_cast<double>(numbers.size()) / count;
  }
  EventQueue events;
  PacketPath path;
  std::vector<int> numbers;
  std::vector<Duration> times;

 private:
  PacketRoute route_;
  Time start_ = events.now();
  int sent_ = 0;
};

TEST(PacketPath, TransmitsOneAfterTheOtherAndDelaysEach) {
  Line line({.bytes_per_second = 100'000, .delay = 30ms});
  for (int i = 0; i < 3; ++i) line.send();
  line.run();
  EXPECT_THAT(line.times, ElementsAre(40ms, 50ms, 60ms));
}

TEST(PacketPath, DropsTheTailOfAFullQueue) {
  Line line({.bytes_per_second = 100'000, .queue = {.packets_max = 2}});
  for (int i = 0; i < 5; ++i) line.send();
  line.run();
  EXPECT_THAT(line.numbers, ElementsAre(0, 1, 2)) << "one is being sent, and two wait";
  EXPECT_EQ(line.path.counts().dropped, 2u);
  EXPECT_EQ(line.path.counts().bytes_left, 3000u);
}

TEST(PacketPath, ChangesItsRateBehindThePacketThatItSends) {
  Line line({.bytes_per_second = 100'000});
  line.send();
  line.send();
  line.path.set_rate(50'000);
  line.run();
  EXPECT_THAT(line.times, ElementsAre(10ms, 30ms));
}

TEST(PacketPath, LosesWhatAScriptSays) {
  Line line({.delay = 1ms});
  line.path.lose(1);
  line.path.lose(3);
  for (int i = 0; i < 5; ++i) line.send();
  line.run();
  EXPECT_THAT(line.numbers, ElementsAre(0, 2, 4));
}

TEST(PacketPath, LosesByChance) { EXPECT_NEAR(Line({.delay = 1ms, .loss = 0.03}).loss_of(20'000), 0.03, 0.004); }

TEST(PacketPath, LosesInBurstsOfTheirMeanLength) {
  Line line({.delay = 1ms, .bursts = BurstLoss{.to_bad = 0.005, .to_good = 0.25}});
  EXPECT_NEAR(line.loss_of(50'000), 0.005 / (0.005 + 0.25), 0.003);
  int bursts = 0;
  for (std::size_t i = 1; i < line.numbers.size(); ++i) bursts += line.numbers[i] != line.numbers[i - 1] + 1 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(line.path.counts().lost) / bursts, 4, 0.5);
}

TEST(PacketPath, NeverReordersByJitter) {
  Line line({.delay = 10ms, .jitter = 10ms});
  for (int i = 0; i < 100; ++i) {
    line.send();
    line.run(1ms);
  }
  line.run();
  EXPECT_TRUE(std::is_sorted(line.numbers.begin(), line.numbers.end()));
  EXPECT_EQ(line.numbers.size(), 100u);
}

TEST(PacketPath, LetsOthersPassWhereItReorders) {
  Line line({.delay = 10ms, .reordered = 0.1, .reordered_by = 5ms});
  EXPECT_EQ(line.loss_of(1000), 0);
  int passed = 0;
  for (std::size_t i = 1; i < line.numbers.size(); ++i) passed += line.numbers[i] < line.numbers[i - 1] ? 1 : 0;
  EXPECT_NEAR(passed, 90, 30) << "a tenth, but for neighbours";
}

TEST(PacketPath, IsTheSameForTheSameSeed) {
  const PacketPathProperties properties{
      .delay = 1ms, .jitter = 1ms, .loss = 0.1, .reordered = 0.1, .reordered_by = 2ms};
  Line first(properties, 5), second(properties, 5), other(properties, 6);
  for (Line* line : {&first, &second, &other}) line->loss_of(200);
  EXPECT_EQ(first.numbers, second.numbers);
  EXPECT_EQ(first.times, second.times);
  EXPECT_NE(first.numbers, other.numbers);
}

TEST(PacketPath, LeadsToTheNextOfARoute) {
  EventQueue events;
  PacketPath first(events, {.delay = 10ms}, 1), second(events, {.bytes_per_second = 100'000, .delay = 5ms}, 2);
  const PacketRoute route{&first, &second};
  const Time start = events.now();
  Time arrived{};
  send_packet(route, 1000, [&] { arrived = events.now(); });
  while (events.step(kNever)) {
  }
  EXPECT_EQ(arrived - start, 25ms);
}

// RED.

QueueProperties red(bool is_gentle = true) {
  return {.packets_max = 125, .red = RedProperties{5, 15, 0.1, 0.002, is_gentle}};
}

/// Keeps so many packets in the queue, and gives the share that it drops of the last half of `count` packets.
double dropped_at(std::size_t length, const QueueProperties& properties, int count = 20'000) {
  PacketQueue queue(properties, Random(1));
  int dropped = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_in = queue.push(Time(1s), {}, 1ms);
    if (!is_in && i >= count / 2) ++dropped;
    while (queue.size() > length) queue.pop(Time(1s));
  }
  return static_cast<double>(dropped) / (count / 2);
}

TEST(Red, DropsMoreTheLongerTheQueueIsInTheMean) {
  EXPECT_EQ(dropped_at(4, red()), 0);
  // The probability is spread over intervals of even length: twice that of section VII's p_b, about.
  EXPECT_NEAR(dropped_at(10, red()), 2 * 0.05 / 1.05, 0.02);
  EXPECT_NEAR(dropped_at(20, red()), 1 / 1.6, 0.1);
  EXPECT_EQ(dropped_at(31, red()), 1);
  EXPECT_EQ(dropped_at(16, red(false)), 1);
}

TEST(Red, LetsAShortBurstPass) {
  PacketQueue queue(red(), Random(1));
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(queue.push(Time(1s), {}, 1ms)) << i;
  EXPECT_LT(queue.mean(), 5);
}

TEST(Red, ForgetsWhileItIsIdle) {
  PacketQueue queue(red(), Random(1));
  for (int i = 0; i < 2000; ++i) {
    queue.push(Time(1s), {}, 1ms);
    if (queue.size() > 14) queue.pop(Time(1s));
  }
  EXPECT_GT(queue.mean(), 10);
  while (!queue.empty()) queue.pop(Time(1s));
  queue.push(Time(1s) + 5s, {}, 1ms);
  EXPECT_LT(queue.mean(), 0.01) << "5,000 packets could have been sent";
}

}  // namespace
}  // namespace spindled::sim
