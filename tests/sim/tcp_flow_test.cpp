// TCP over paths that carry packets: what RFC 5681 and RFC 6582 say of losses, and what follows from it for rates.
#include "tests/sim/tcp_flow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace spindled::sim {
namespace {

class Tcp {
 public:
  explicit Tcp(const PacketPathProperties& there, const TcpProperties& properties = {}, std::uint64_t seed = 1)
      : path(events, there, seed),
        back_(events, {.delay = there.delay}, seed + 1),
        there_route_{&path},
        back_route_{&back_},
        flow(events, there_route_, back_route_, properties) {}
  void run(Duration duration) {
    const Time until = events.now() + duration;
    while (events.step(until)) {
    }
    events.advance(until);
  }
  /// Until it has happened, or for a minute.
  template <typename Condition>
  bool run_until(const Condition& condition) {
    const Time until = events.now() + 1min;
    while (!condition()) {
      if (!events.step(until)) return false;
    }
    return true;
  }
  EventQueue events;
  PacketPath path;

 private:
  PacketPath back_;
  PacketRoute there_route_, back_route_;

 public:
  TcpFlow flow;
};

constexpr PacketPathProperties kWide{.bytes_per_second = 12'500'000, .delay = 50ms};

TEST(TcpFlow, DoublesItsWindowInSlowStart) {
  Tcp tcp(kWide, {.first_window = 2, .delayed_ack_max = 1ms});
  tcp.flow.start();
  tcp.run(110ms);
  EXPECT_EQ(tcp.flow.window(), 3) << "one acknowledgement for two packets";
  tcp.run(600ms);
  EXPECT_GT(tcp.flow.window(), 15);
  EXPECT_EQ(tcp.flow.counts().sent_again, 0u);
  EXPECT_NEAR(to_seconds(tcp.flow.round_trip()), 0.1, 0.01);
}

TEST(TcpFlow, AvoidsCongestionByAPacketInARoundTrip) {
  Tcp tcp(kWide);
  tcp.path.lose(30);
  tcp.flow.start();
  ASSERT_TRUE(tcp.run_until([&] { return tcp.flow.counts().fast_retransmits == 1 && !tcp.flow.is_recovering(); }));
  const double window = tcp.flow.window();
  tcp.run(1s);
  EXPECT_NEAR(tcp.flow.window(), window + 10, 1.1);
}

TEST(TcpFlow, GrowsHalfAsFastWhereItCountsDelayedAcknowledgements) {
  Tcp tcp(kWide, {.counts_packets = false});
  tcp.path.lose(30);
  tcp.flow.start();
  ASSERT_TRUE(tcp.run_until([&] { return tcp.flow.counts().fast_retransmits == 1 && !tcp.flow.is_recovering(); }));
  const double window = tcp.flow.window();
  tcp.run(1s);
  EXPECT_NEAR(tcp.flow.window(), window + 5, 1.1);
}

TEST(TcpFlow, RepairsOneLossByAFastRetransmit) {
  for (const TcpKind kind : {TcpKind::reno, TcpKind::newreno}) {
    Tcp tcp(kWide, {.kind = kind, .first_window = 20});
    tcp.path.lose(5);
    tcp.flow.start();
    ASSERT_TRUE(tcp.run_until([&] { return tcp.flow.is_recovering(); }));
    EXPECT_NEAR(tcp.flow.threshold(), 11, 1) << "half of what is in flight";
    ASSERT_TRUE(tcp.run_until([&] { return !tcp.flow.is_recovering(); }));
    EXPECT_LE(tcp.flow.window(), tcp.flow.threshold());
    tcp.run(200ms);
    EXPECT_EQ(tcp.flow.counts().sent_again, 1u);
    EXPECT_EQ(tcp.flow.counts().timeouts, 0u);
    EXPECT_GT(tcp.flow.delivered(), 20u);
  }
}

TEST(TcpFlow, NewRenoRepairsAllLossesOfAWindowInOneRecovery) {
  Tcp tcp(kWide, {.kind = TcpKind::newreno, .first_window = 20});
  for (const std::uint64_t lost : {5u, 8u, 11u}) tcp.path.lose(lost);
  tcp.flow.start();
  tcp.run(1s);
  EXPECT_EQ(tcp.flow.counts().fast_retransmits, 1u);
  EXPECT_EQ(tcp.flow.counts().sent_again, 3u);
  EXPECT_EQ(tcp.flow.counts().timeouts, 0u);
}

TEST(TcpFlow, RenoHalvesForEachLossOfAWindow) {
  Tcp tcp(kWide, {.kind = TcpKind::reno, .first_window = 40});
  for (const std::uint64_t lost : {5u, 20u}) tcp.path.lose(lost);
  tcp.flow.start();
  tcp.run(1500ms);
  EXPECT_EQ(tcp.flow.counts().fast_retransmits + tcp.flow.counts().timeouts, 2u);
}

TEST(TcpFlow, TimesOutWhereAcknowledgementsDoNotComeAndWaitsLongerEachTime) {
  Tcp tcp(kWide, {.first_window = 2});
  for (std::uint64_t lost = 0; lost < 4; ++lost) tcp.path.lose(lost);
  tcp.flow.start();
  tcp.run(999ms);
  EXPECT_EQ(tcp.flow.counts().timeouts, 0u);
  tcp.run(10ms);
  EXPECT_EQ(tcp.flow.counts().timeouts, 1u);
  EXPECT_EQ(tcp.flow.window(), 1);
  tcp.run(1900ms);
  EXPECT_EQ(tcp.flow.counts().timeouts, 1u) << "two seconds";
  tcp.run(200ms);
  EXPECT_EQ(tcp.flow.counts().timeouts, 2u);
  tcp.run(5s);
  EXPECT_EQ(tcp.flow.counts().timeouts, 3u) << "the fifth packet arrives, after four seconds more";
  EXPECT_GT(tcp.flow.delivered(), 0u);
}

TEST(TcpFlow, ReceiverAcknowledgesASinglePacketLate) {
  Tcp tcp(kWide, {.first_window = 1, .delayed_ack_max = 100ms});
  tcp.flow.start();
  tcp.run(195ms);
  EXPECT_EQ(tcp.flow.counts().sent, 1u);
  tcp.run(10ms);
  EXPECT_EQ(tcp.flow.counts().sent, 3u);
}

/// Packets in a round trip of 100 ms, in the mean, with so much loss.
double rate_at(double loss, TcpKind kind = TcpKind::newreno) {
  PacketPathProperties path = kWide;
  path.loss = loss;
  Tcp tcp(path, {.kind = kind}, 7);
  tcp.flow.start();
  tcp.run(1000s);
  return static_cast<double>(tcp.flow.delivered()) / 10'000;
}

TEST(TcpFlow, RateFollowsTheRootOfLoss) {
  // Mathis et al., The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm: sqrt(3/2p) packets.
  EXPECT_NEAR(rate_at(0.001) / std::sqrt(1.5 / 0.001), 1, 0.1);
  EXPECT_NEAR(rate_at(0.001) / rate_at(0.004), 2, 0.25);
  // With more loss timeouts take their share (Padhye et al.).
  EXPECT_NEAR(rate_at(0.01) / std::sqrt(1.5 / 0.01), 0.9, 0.15);
  EXPECT_LT(rate_at(0.01, TcpKind::reno), rate_at(0.01));
}

TEST(TcpFlow, SharesABottleneckAndFillsIt) {
  EventQueue events;
  PacketPath path(events, {.bytes_per_second = 1'250'000, .delay = 10ms, .queue = {.packets_max = 60}}, 1);
  PacketPath back(events, {.delay = 20ms}, 2);
  const PacketRoute back_route{&back};
  std::vector<std::unique_ptr<PacketPath>> accesses;
  std::vector<std::unique_ptr<PacketRoute>> routes;
  std::vector<std::unique_ptr<TcpFlow>> flows;
  for (std::uint64_t i = 0; i < 4; ++i) {
    // Without jitter it would be a matter of phases who loses (Floyd and Jacobson, On Traffic Phase Effects).
    accesses.push_back(
        std::make_unique<PacketPath>(events, PacketPathProperties{.delay = 10ms, .jitter = 2ms}, 10 + i));
    routes.push_back(std::make_unique<PacketRoute>(PacketRoute{accesses.back().get(), &path}));
    flows.push_back(std::make_unique<TcpFlow>(events, *routes.back(), back_route, TcpProperties()));
    flows.back()->start();
  }
  const Time until = events.now() + 200s;
  while (events.step(until)) {
  }
  double sum = 0;
  for (const auto& flow : flows) {
    const double share = static_cast<double>(flow->delivered()) * 1500 / 200 / 1'250'000;
    EXPECT_NEAR(share, 0.25, 0.06);
    sum += share;
  }
  EXPECT_GT(sum, 0.95);
}

}  // namespace
}  // namespace spindled::sim
