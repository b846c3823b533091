// TCP as the competitor of other traffic: packets over paths with queues.
#pragma once

#include <cstdint>
#include <deque>
#include <set>

#include "tests/sim/packet_path.h"

namespace spindled::sim {

enum class TcpKind : std::uint8_t {
  reno,     // RFC 5681: each loss of a window ends fast recovery, and begins another
  newreno,  // RFC 6582: one fast recovery for all losses of a window
};

struct TcpProperties {
  TcpKind kind = TcpKind::newreno;
  std::size_t packet_bytes = 1500;  // with all heads
  std::size_t ack_bytes = 40;
  double first_window = 4;      // packets, of RFC 5681; RFC 6928 has 10
  double receive_window = 1e6;  // packets
  /// Whether the window grows by what is acknowledged (RFC 5681, section 3.1), rather than by each acknowledgement,
  /// which delayed ones halve: so it was usual in 2000.
  bool counts_packets = true;
  Duration timeout_min = 1s;         // RFC 6298; Linux has 200 ms
  Duration delayed_ack_max = 100ms;  // RFC 5681, section 4.2: below 500 ms
};

/// A sender that always has something to send, and its receiver. Without selective acknowledgements; every second
/// packet is acknowledged at once (RFC 5681), the first two
/// duplicate acknowledgements let new packets out (RFC 3042). A flow outlives the events of its queue.
class TcpFlow {
 public:
  struct Counts {
    std::uint64_t sent = 0;  // packets, with those that were sent again
    std::uint64_t sent_again = 0;
    std::uint64_t fast_retransmits = 0;
    std::uint64_t timeouts = 0;
  };

  /// Packets go `there`, acknowledgements `back`; both outlive the flow.
  TcpFlow(EventQueue& events, const PacketRoute& there, const PacketRoute& back, const TcpProperties& properties);
  TcpFlow(const TcpFlow&) = delete;
  TcpFlow& operator=(const TcpFlow&) = delete;

  void start() { send_more(); }

  /// Packets that the receiver has in order.
  std::uint64_t delivered() const { return expected_; }
  const Counts& counts() const { return counts_; }
  /// Packets.
  double window() const { return window_; }
  double threshold() const { return threshold_; }
  bool is_recovering() const { return is_recovering_; }
  /// Smoothed; zero: not measured.
  Duration round_trip() const { return round_trip_; }

 private:
  struct Outstanding {
    Time sent_at{};
    bool again = false;
  };

  // The sender.
  void send_more();
  void send(std::uint64_t number);
  void acknowledged(std::uint64_t next);
  void advanced(std::uint64_t next);
  void repeated();
  void grow(std::uint64_t packets);
  void begin_recovery();
  void partly_recovered(std::uint64_t packets);
  void measure(Duration sample);
  void arm();
  void watch();
  void time_out();
  double in_flight() const { return static_cast<double>(next_ - unacknowledged_); }
  Duration timeout() const;

  // The receiver.
  void arrived(std::uint64_t number);
  void acknowledge();
  void acknowledge_late();

  EventQueue* events_;
  const PacketRoute* there_;
  const PacketRoute* back_;
  TcpProperties properties_;
  Counts counts_;

  std::uint64_t unacknowledged_ = 0;  // the first such packet
  std::uint64_t next_ = 0;
  std::uint64_t highest_ = 0;            // behind all that were ever sent
  std::deque<Outstanding> outstanding_;  // from unacknowledged_ on, to highest_
  double window_;
  double threshold_ = 1e9;
  double acked_ = 0;  // of a window, while congestion is avoided
  int duplicates_ = 0;
  bool is_recovering_ = false;
  bool is_first_partial_ = true;
  std::uint64_t recover_ = 0;     // RFC 6582
  std::uint64_t not_before_ = 0;  // no fast retransmit of packets before this one
  Duration round_trip_{}, deviation_{};
  int backoff_ = 0;
  Time deadline_ = kNever;
  bool is_watched_ = false;  // an event is going to look at the deadline

  std::uint64_t expected_ = 0;
  std::set<std::uint64_t> early_;
  bool owes_ack_ = false;
  std::uint64_t acks_ = 0;
};

}  // namespace spindled::sim
