// Paths that carry packets, and the clock that they share.
#pragma once

#include <deque>

#include "bench/sim/scenarios/feeds/feed_flow.h"
#include "tests/sim/packet_path.h"

namespace spindled::scenarios::feeds {

// "The buffer sizes in all experiments are 125 pkts each, and the packet sizes are 560 bytes" (section 3).
inline constexpr std::size_t kPaperPacket = 560;
inline constexpr std::size_t kPaperQueue = 125;

inline std::uint64_t bytes_of(double bits_per_second) { return static_cast<std::uint64_t>(bits_per_second / 8); }

/// The rules of the paper, with its packets.
inline FeedFlowProperties paper_rules(double first_bits_per_second, Duration round_trip) {
  FeedFlowProperties properties;
  FeedRateConfig& rate = properties.rate;
  rate.packet_bytes = kPaperPacket;
  rate.round_trip = round_trip;
  rate.start = false;
  rate.first_rate = first_bits_per_second / 8;
  rate.worst_path = false;
  rate.like_tcp = false;
  rate.increase_deviations = 2;
  return properties;
}

/// Ours.
inline FeedFlowProperties our_rules(std::size_t packet_bytes, Duration round_trip) {
  FeedFlowProperties properties;
  properties.rate.packet_bytes = packet_bytes;
  properties.rate.round_trip = round_trip;
  return properties;
}

class Paths {
 public:
  explicit Paths(std::uint64_t seed) : random_(seed) {}

  sim::PacketPath& add(const sim::PacketPathProperties& properties) {
    return paths_.emplace_back(events, properties, random_.next());
  }
  /// With the queue of the paper; unlimited where the rate is 0.
  sim::PacketPath& add(double bits_per_second, Duration delay, bool has_red = false, bool is_gentle = true) {
    sim::PacketPathProperties properties{.bytes_per_second = bytes_of(bits_per_second), .delay = delay};
    if (bits_per_second > 0) properties.queue.packets_max = kPaperQueue;
    if (has_red) properties.queue.red = sim::RedProperties{.is_gentle = is_gentle};
    return add(properties);
  }
  Random& random() { return random_; }

  void run_for(Duration duration) {
    const Time until = events.now() + duration;
    while (events.step(until)) {
    }
    events.advance(until);
  }
  Duration now() const { return events.now() - start_; }

  sim::EventQueue events;

 private:
  Random random_;
  std::deque<sim::PacketPath> paths_;
  Time start_ = events.now();
};

}  // namespace spindled::scenarios::feeds
