// Paths with loss: bytes still come in order, and as many as the formulas for Reno and CUBIC have it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/network.h"

namespace spindled::sim {
namespace {

constexpr double kSegment = SegmentFlow::kSegmentBytes;

/// RFC 5681's window in segments over a path that loses one of 1 / loss (Mathis et al., 1997).
double reno_window(double loss) { return std::sqrt(1.5 / loss); }
/// RFC 9438 section 5.1, equation 6, and what its Reno-friendly region has where that is more.
double cubic_window(double loss, double round_trip_s) {
  return std::max(1.054 * std::pow(round_trip_s / loss, 0.75), reno_window(loss));
}
double expected_window(CongestionControl kind, double loss, double round_trip_s) {
  return kind == CongestionControl::reno ? reno_window(loss) : cubic_window(loss, round_trip_s);
}

// The window alone, which loses each n-th segment.

double mean_window(CongestionControl kind, int segments_per_loss, Duration round_trip) {
  CongestionWindow window(kind, 1000);
  Time now{1h};
  double sum_s = 0, sum = 0;
  int sent = 0, losses = 0;
  while (losses < 60) {
    const int in_round = std::max(1, static_cast<int>(window.bytes() / 1000));
    const Duration step = round_trip / in_round;
    for (int i = 0; i < in_round; ++i) {
      now += step;
      if (losses >= 20) {
        sum_s += to_seconds(step);
        sum += to_seconds(step) * static_cast<double>(window.bytes()) / 1000;
      }
      window.acked(now, 1000, round_trip);
      if (++sent < segments_per_loss) continue;
      sent = 0;
      ++losses;
      window.lost();
      break;
    }
  }
  return sum / sum_s;
}

TEST(CongestionWindowTest, IsInTheMeanWhatTheFormulasHave) {
  for (const CongestionControl kind : {CongestionControl::reno, CongestionControl::cubic}) {
    for (const Duration round_trip : {Duration(10ms), Duration(100ms)}) {
      for (const int each : {100, 1000, 10'000, 100'000}) {
        const double expected = expected_window(kind, 1.0 / each, to_seconds(round_trip));
        EXPECT_NEAR(mean_window(kind, each, round_trip) / expected, 1, 0.12)
            << to_string(kind) << ", one of " << each << " is lost, " << to_seconds(round_trip) << " s";
      }
    }
  }
}

TEST(CongestionWindowTest, BeginsSlowAndFallsToOneSegmentWhenNothingArrives) {
  CongestionWindow window(CongestionControl::cubic, 1000);
  EXPECT_EQ(window.bytes(), 10'000u);
  EXPECT_TRUE(window.is_slow_start());
  window.acked(Time{1h}, 10'000, 10ms);
  EXPECT_EQ(window.bytes(), 20'000u);
  window.lost();
  EXPECT_EQ(window.bytes(), 14'000u);
  EXPECT_FALSE(window.is_slow_start());
  window.timed_out();
  EXPECT_EQ(window.bytes(), 1000u);
  EXPECT_TRUE(window.is_slow_start());
  window.acked(Time{1h}, 50'000, 10ms);
  EXPECT_NEAR(static_cast<double>(window.bytes()), 9800, 1) << "up to what it was reduced to";
}

// Over the network.

/// Writes all that there is room for, and holds what it reads against what was written.
class Peer final : public StreamOwner, public StreamListener {
 public:
  explicit Peer(Network& network) : network_(&network) {}

  void stream_connected(StreamRef opened) override { write(opened); }
  void stream_writable(StreamRef from) override { write(from); }
  void stream_readable(StreamRef from) override {
    std::uint8_t buffer[5000];
    while (const std::size_t count = network_->read(from, buffer)) {
      for (std::size_t i = 0; i < count; ++i) is_right = is_right && buffer[i] == byte_at(received + i);
      received += count;
    }
    at_end = network_->at_end(from);
  }
  void stream_closed(StreamRef, std::string_view) override {}
  StreamOwner* stream_accepted(StreamRef, Port, std::string_view) override { return this; }

  std::size_t limit = SIZE_MAX;  // to write, and then to close
  std::size_t written = 0, received = 0;
  bool is_right = true, at_end = false;

 private:
  static std::uint8_t byte_at(std::size_t position) { return static_cast<std::uint8_t>(position % 251); }
  void write(StreamRef end) {
    std::vector<std::uint8_t> bytes(std::min<std::size_t>(100'000, limit - written));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(written + i);
    const ByteView view(bytes);
    written += network_->write(end, {&view, 1});
    if (written == limit) network_->close(end);
  }

  Network* network_;
};

struct Pair {
  explicit Pair(const PathProperties& path, std::uint64_t seed = 1) : network(events, seed) {
    network.add_host("a", "a:1", a);
    network.add_host("b", "b:1", b);
    network.set_path(0, 1, path);
    end = network.dial(0, "b:1", a);
  }
  void run(Duration duration) {
    const Time until = events.now() + duration;
    while (events.step(until)) {
    }
    events.advance(until);
  }
  double bytes_per_s(Duration before, Duration measured) {
    run(before);
    const std::size_t start = b.received;
    run(measured);
    return static_cast<double>(b.received - start) / to_seconds(measured);
  }

  EventQueue events;
  Network network;
  Peer a{network}, b{network};
  StreamRef end;
};

PathProperties lossy(CongestionControl kind, double loss, Duration delay) {
  PathProperties path;
  path.bytes_per_second = 12'500'000;
  path.delay = delay;
  path.jitter = 0ns;
  path.receive_window = 64u << 20;
  path.congestion_control = kind;
  path.loss = loss;
  return path;
}

// The formulas are of losses at equal distances. With such as come at random Reno has a tenth more (Ott et al., 1996),
// and CUBIC, which remembers its last maximum, less.
TEST(NetworkLoss, CarriesWhatTheFormulasHaveLarge) {
  for (const CongestionControl kind : {CongestionControl::reno, CongestionControl::cubic}) {
    for (const Duration delay : {Duration(10ms), Duration(50ms)}) {
      for (const double loss : {0.001, 0.01}) {
        Pair pair(lossy(kind, loss, delay));
        const double round_trip_s = 2 * to_seconds(delay);
        const double expected = expected_window(kind, loss, round_trip_s) * kSegment / round_trip_s;
        EXPECT_NEAR(pair.bytes_per_s(60s, 10'000 * 2 * delay) / expected, 1, 0.2)
            << to_string(kind) << ", " << loss << ", " << round_trip_s << " s";
        EXPECT_TRUE(pair.b.is_right);
      }
    }
  }
}

TEST(NetworkLoss, WithoutLossAPathIsUsedAsWithoutCongestionControl) {
  for (const CongestionControl kind : {CongestionControl::none, CongestionControl::reno, CongestionControl::cubic}) {
    Pair pair(lossy(kind, 0, 10ms));
    EXPECT_NEAR(pair.bytes_per_s(5s, 10s), 12'500'000, 125'000) << to_string(kind);
    EXPECT_TRUE(pair.b.is_right);
  }
}

TEST(NetworkLoss, AQueueDropsWhatItHasNoRoomFor) {
  for (const CongestionControl kind : {CongestionControl::reno, CongestionControl::cubic}) {
    PathProperties path = lossy(kind, 0, 10ms);
    path.bytes_per_second = 1'250'000;  // 25 kB in a round trip
    path.queue_bytes = 25'000;
    Pair full(path);
    EXPECT_GT(full.bytes_per_s(20s, 60s), 0.97 * 1'250'000) << to_string(kind);
    EXPECT_TRUE(full.b.is_right);
    path.queue_bytes = 3000;
    Pair little(path);
    const double used = little.bytes_per_s(20s, 60s) / 1'250'000;
    EXPECT_LT(used, 0.97) << to_string(kind);
    EXPECT_GT(used, 0.6) << to_string(kind);
    EXPECT_TRUE(little.b.is_right);
  }
}

TEST(NetworkLoss, AllArrivesInOrderAndThenTheEndHoweverMuchIsLost) {
  for (const double loss : {0.05, 0.3}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Pair pair(lossy(CongestionControl::cubic, loss, 5ms), seed);
      pair.a.limit = 200'000;
      pair.run(600s);
      EXPECT_EQ(pair.b.received, 200'000u) << loss << ", seed " << seed;
      EXPECT_TRUE(pair.b.is_right);
      EXPECT_TRUE(pair.b.at_end);
    }
  }
}

TEST(NetworkLoss, ThatACutHoldsUpGoesOnBehindIt) {
  Pair pair(lossy(CongestionControl::reno, 0.01, 10ms));
  pair.run(1s);
  pair.network.set_cut(0, 1, true);
  pair.run(1s);
  const std::size_t before = pair.b.received;
  pair.run(5s);
  EXPECT_EQ(pair.b.received, before);
  pair.network.heal();
  pair.run(5s);
  EXPECT_GT(pair.b.received, before + 1'000'000);
  EXPECT_TRUE(pair.b.is_right);
}

TEST(NetworkLoss, TheSameSeedLosesTheSame) {
  const auto received = [](std::uint64_t seed) {
    Pair pair(lossy(CongestionControl::cubic, 0.01, 10ms), seed);
    pair.run(10s);
    return pair.b.received;
  };
  EXPECT_EQ(received(1), received(1));
  EXPECT_NE(received(1), received(2));
}

TEST(NetworkLoss, AStreamMayBeginToLoseInTheMiddle) {
  PathProperties path = lossy(CongestionControl::none, 0, 10ms);
  Pair pair(path);
  pair.run(1s);
  path.congestion_control = CongestionControl::reno;
  path.loss = 0.01;
  pair.network.set_path(0, 1, path);
  const double rate = pair.bytes_per_s(5s, 60s);
  EXPECT_LT(rate, 1.5 * reno_window(0.01) * kSegment / 0.02);
  EXPECT_GT(rate, 0.7 * reno_window(0.01) * kSegment / 0.02);
  EXPECT_TRUE(pair.b.is_right);
}

}  // namespace
}  // namespace spindled::sim
