// What waits for a link, packet by packet, and what is dropped instead.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/base/time.h"

namespace spindled::sim {

class PacketPath;
/// The paths that a packet takes, one behind the other; at least one.
using PacketRoute = std::vector<PacketPath*>;

/// What a packet contains is up to whoever sends it: the path knows its size, and calls `arrived` at the end of the
/// route.
struct Packet {
  std::size_t bytes = 0;
  std::function<void()> arrived;
  const PacketRoute* route = nullptr;
  std::size_t hop = 0;  // in `route`
};

/// Random Early Detection: the longer the queue has been in the mean, the more of what comes is dropped (Floyd and
/// Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993). In packets.
struct RedProperties {
  double min_threshold = 5;
  double max_threshold = 15;
  double drop_max = 0.1;  // at max_threshold
  double weight = 0.002;  // of a new length in the mean
  /// From max_threshold to twice that the probability grows to 1, where the paper of 1993 drops all.
  bool is_gentle = true;
};

struct QueueProperties {
  std::size_t packets_max = 0;  // 0: any number
  std::optional<RedProperties> red{};
};

class PacketQueue {
 public:
  PacketQueue(const QueueProperties& properties, Random random) : properties_(properties), random_(random) {}

  /// Takes the packet, or drops it and says so. `transmission`: the time that the link needs for it.
  bool push(Time now, Packet packet, Duration transmission);
  Packet pop(Time now);
  bool empty() const { return packets_.empty(); }
  std::size_t size() const { return packets_.size(); }
  /// Of RED.
  double mean() const { return mean_; }

 private:
  bool drops_early(Time now, Duration transmission);
  double drop_probability() const;

  QueueProperties properties_;
  Random random_;
  std::deque<Packet> packets_;
  // Of RED.
  double mean_ = 0;
  std::uint64_t since_drop_ = 0;    // packets
  Time empty_since_ = Time::min();  // while it is empty; min: it was never in use
};

}  // namespace spindled::sim
