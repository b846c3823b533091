// One direction of a path that carries packets: a queue, a link behind it, and what happens to packets on the way.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "tests/sim/event_queue.h"
#include "tests/sim/packet_queue.h"

namespace spindled::sim {

/// Losses in bursts: the path is good or bad, and changes with each packet by chance (Gilbert 1960, Elliott 1963).
struct BurstLoss {
  double to_bad = 0;   // probability for each packet
  double to_good = 1;  // 1 over the mean length of a burst
  double loss_good = 0;
  double loss_bad = 1;
};

struct PacketPathProperties {
  std::uint64_t bytes_per_second = 0;  // 0: unlimited
  Duration delay{};
  Duration jitter{};  // drawn from [0, jitter] and added to the delay; never reorders
  QueueProperties queue{};
  double loss = 0;  // probability for each packet that has left the queue
  std::optional<BurstLoss> bursts{};
  double reordered = 0;  // probability that a packet takes `reordered_by` longer, and lets others pass
  Duration reordered_by{};
};

/// All that happens to packets follows from the seed and from what enters. A path, and the routes that it is part of,
/// outlive the events of its queue.
class PacketPath {
 public:
  struct Counts {
    std::uint64_t entered = 0;
    std::uint64_t dropped = 0;  // by the queue
    std::uint64_t lost = 0;     // in front of it by script, behind it by chance
    std::uint64_t left = 0;
    std::uint64_t bytes_left = 0;
  };

  PacketPath(EventQueue& events, const PacketPathProperties& properties, std::uint64_t seed);
  PacketPath(const PacketPath&) = delete;
  PacketPath& operator=(const PacketPath&) = delete;

  /// What is being sent is still sent at the old rate.
  void set_rate(std::uint64_t bytes_per_second) { properties_.bytes_per_second = bytes_per_second; }
  /// Of the packets that ever entered, the one of this number, from 0 on, is lost.
  void lose(std::uint64_t number) { scripted_.insert(number); }

  void enter(Packet packet);

  const Counts& counts() const { return counts_; }

 private:
  Duration transmission(std::size_t bytes) const;
  void transmit(Packet packet);
  void transmitted();
  void travel(Packet packet);
  void arrive(std::uint32_t place);
  bool is_lost();

  EventQueue* events_;
  PacketPathProperties properties_;
  Random random_;
  PacketQueue queue_;
  std::optional<Packet> sending_;
  bool is_bad_ = false;  // of BurstLoss
  Time last_arrival_{};
  std::set<std::uint64_t> scripted_;
  Counts counts_;
  // Packets on their way stay in their places: the event of an arrival names one.
  std::vector<Packet> travelling_;
  std::vector<std::uint32_t> free_;
};

/// `arrived` happens when the packet has come through all of `route`, and never if it is lost.
void send_packet(const PacketRoute& route, std::size_t bytes, std::function<void()> arrived);

}  // namespace spindled::sim
