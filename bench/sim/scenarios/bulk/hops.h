// The networks of bulk scenarios: paths between hosts, as simulated clusters and plain TCP streams have them alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/network.h"

namespace spindled::scenarios::bulk {

/// A path between two hosts, the same both ways. Every path is a link of the overlay.
struct Hop {
  std::string a, b;
  double bits_per_second = 0;
  Duration delay = 1ms;  // one way
  sim::CongestionControl congestion_control = sim::CongestionControl::none;
  double loss = 0;              // of segments, with congestion control
  std::size_t queue_bytes = 0;  // in front of the path, which drops what exceeds it; 0: senders wait
  std::size_t competing = 0;    // TCP streams beside, from a to b, that always have something to send
};

/// As Linux has it: a window of 64 KiB that grows to 6 MiB, and no more unsent bytes than keep the path busy.
sim::PathProperties properties_of(const Hop& hop);

/// Streams that compete with others for the paths of a network.
class Competitors final : private sim::StreamOwner, private sim::StreamListener {
 public:
  explicit Competitors(sim::Network& network) : network_(network), bytes_(64u << 10) {}
  Competitors(const Competitors&) = delete;
  Competitors& operator=(const Competitors&) = delete;

  /// `count` of them from now on, on the path from `a` to `b`.
  void add(sim::HostIndex a, sim::HostIndex b, std::size_t count);

 private:
  void stream_connected(sim::StreamRef end) override { stream_writable(end); }
  void stream_readable(sim::StreamRef end) override;
  void stream_writable(sim::StreamRef end) override;
  void stream_closed(sim::StreamRef, std::string_view) override {}
  sim::StreamOwner* stream_accepted(sim::StreamRef, Port, std::string_view) override { return this; }

  sim::Network& network_;
  std::vector<std::uint8_t> bytes_;
  std::size_t hosts_ = 0;
};

}  // namespace spindled::scenarios::bulk
