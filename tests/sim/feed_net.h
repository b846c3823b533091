// Daemons of a graph that repair feeds, joined by links that take time and lose packets: the daemon's own code for
// feeds, with the bytes of its frames, and nothing else of a daemon.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/feed/feed_repair.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/graphs.h"

namespace spindled::sim {

/// A frame on its way over a link.
struct FeedCrossing {
  MemberIndex from = 0;
  MemberIndex to = 0;
  DatagramFrame type{};
  std::uint64_t sequence = 0;  // of a packet; of a NAK, a gone and a beat the first or highest one
  bool is_repair = false;      // a packet
  std::uint8_t attempt = 0;    // of a NAK,
  bool is_served = false;      // which has been served
};

struct FeedNetOptions {
  RepairConfig config{.cache_bytes = 256u << 10};
  std::vector<MemberIndex> without_cache;  // these keep packets for their own listeners only
  Duration repair_for = 10s;
  /// The lowest bits of the first sequence.
  std::uint32_t first = 0;
  std::size_t payload_bytes = 32;
  bool keeps_transcript = false;
};

/// Deterministic: links neither lose nor disorder anything unless they are told. Sequences count from 0 here. The links
/// of a daemon are numbered by who is at their other end.
class FeedNet {
 public:
  FeedNet(const Graph& graph, const FeedNetOptions& options);
  ~FeedNet();

  static constexpr std::uint32_t kFeed = 7;

  /// Whether the link loses the frame.
  void lose(std::function<bool(const FeedCrossing&)> loses) { loses_ = std::move(loses); }
  /// Sees each frame that is sent, whether or not it is lost then.
  void watch(std::function<void(const FeedCrossing&, bool is_lost)> watch) { watch_ = std::move(watch); }
  /// What else the link takes for a frame.
  void delay(std::function<Duration(const FeedCrossing&)> delay) { delay_ = std::move(delay); }

  /// Opens the feed of the graph's source, and says so to all others; not to the late ones what its first packet is.
  void open(const MemberSet& late = {});
  /// The source ends the feed, and all others know.
  void close();
  /// The source sends a packet to `to`, or to all receivers; its sequence.
  std::uint64_t send(const MemberSet& to);
  std::uint64_t send() { return send(receivers_); }
  /// The link is down at both ends.
  void cut(MemberIndex a, MemberIndex b);
  /// The daemon takes part in nothing any more.
  void kill(MemberIndex daemon);
  /// The next view, of the same daemons and of the graph's links; where daemons see it at different times, `at` says
  /// when.
  void change(const Graph& graph, const std::function<Duration(MemberIndex)>& at);

  void run_for(Duration duration);
  Time now() const { return events_.now(); }
  FeedRepair& at(MemberIndex daemon);
  /// From one daemon to another as frames travel.
  Duration one_way(MemberIndex from, MemberIndex to) const;
  const MemberSet& receivers() const { return receivers_; }
  /// Of all daemons.
  std::uint64_t total(std::uint64_t RepairTally::*what) const;

  struct Delivery {
    MemberIndex daemon = 0;
    std::uint64_t sequence = 0;
    Time at{};
    bool is_repair = false;
  };
  std::vector<Delivery> deliveries;
  struct Loss {
    MemberIndex daemon = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::vector<Loss> losses;
  struct Report {  // to the source
    std::uint64_t first = 0;
    MemberIndex reporter = 0;
    std::uint8_t attempt = 0;
    bool is_served = false;
    std::uint32_t held_us = 0;
    std::uint32_t way_us = 0;
  };
  std::vector<Report> reports;
  /// Repairs that came where there was nothing to repair.
  std::uint64_t needless() const { return total(&RepairTally::needless); }
  /// What has crossed links since the last call, a line each.
  std::string transcript();

  /// Hands bytes to a daemon as if they had come from a neighbour.
  void inject(MemberIndex from, MemberIndex to, const FeedNak& nak);
  FeedRef ref() const;
  std::uint32_t on_wire(std::uint64_t sequence) const { return options_.first + static_cast<std::uint32_t>(sequence); }

 private:
  class Daemon;

  FeedKey key() const;
  RepairConfig config_of(MemberIndex daemon) const;
  View view_of(const Graph& graph, MemberIndex self) const;
  void install(MemberIndex daemon);
  std::uint64_t sequence_of(std::uint32_t on_wire) const { return on_wire - options_.first; }
  void cross(const FeedCrossing& crossing, std::vector<std::uint8_t> body);
  void arrive(const FeedCrossing& crossing, const std::vector<std::uint8_t>& body, int attempts);
  FeedRepair::Result handle(const FeedCrossing& crossing, ByteView body);
  void wake(MemberIndex daemon);
  void note(const FeedCrossing& crossing, ByteView body, bool is_lost);

  FeedNetOptions options_;
  Graph graph_;
  std::uint64_t view_number_ = 300;
  MemberSet receivers_;
  EventQueue events_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<std::vector<Duration>> delays_;  // by both ends; zero: no link
  std::function<bool(const FeedCrossing&)> loses_;
  std::function<void(const FeedCrossing&, bool)> watch_;
  std::function<Duration(const FeedCrossing&)> delay_;
  std::string transcript_;
};

}  // namespace spindled::sim
