// One direction of a stream, cut into segments that may be lost.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/congestion_window.h"

namespace spindled::sim {

/// What a segment carries, however often it is sent.
struct Segment {
  std::uint64_t position = 0;  // in the stream
  std::vector<std::uint8_t> bytes;
  bool fin = false;
};
using SegmentRef = std::shared_ptr<const Segment>;

/// Keeps what is in flight within a congestion window, notices what is lost, and puts what arrives in order.
///
/// Each transmission has a number of its own, and each that arrives is acknowledged by that number, as QUIC has it:
/// that is what TCP knows with selective acknowledgements (RFC 6675) and timestamps. Three that were sent later and
/// have arrived say that one is lost; where nothing arrives for a retransmission timeout, all are.
class SegmentFlow {
 public:
  static constexpr std::size_t kSegmentBytes = 1448;  // of an Ethernet frame, with timestamps

  explicit SegmentFlow(CongestionControl kind) : window_(kind, kSegmentBytes) {}

  // The sender. Order of calls: while there is room, `next_lost` or a new segment, then `sent`.

  /// Whether a segment may leave. One may in any case where none is in flight.
  bool has_room() const { return in_flight_ + kSegmentBytes <= window_.bytes() || outstanding_.empty(); }
  bool has_lost() const { return !lost_.empty(); }
  SegmentRef next_lost();
  /// A new segment behind all others.
  SegmentRef cut(std::vector<std::uint8_t> bytes, bool fin);
  /// It leaves now, for the first time or again. Returns the number of this transmission.
  std::uint64_t sent(Time now, SegmentRef segment);
  /// The transmission of this number has arrived.
  void acknowledged(Time now, std::uint64_t number);
  /// When everything in flight counts as lost, unless something arrives before; kNever: nothing is in flight.
  Time deadline() const;
  void time_out(Time now);
  std::size_t window_bytes() const { return window_.bytes(); }
  std::size_t in_flight_bytes() const { return in_flight_; }

  // The receiver.

  /// A segment has come. Returns those that are next in the stream, in order.
  std::vector<SegmentRef> arrived(SegmentRef segment);

  /// For who waits for `deadline`: whether an event is going to look.
  bool is_watched = false;

 private:
  struct Transmission {
    SegmentRef segment;
    Time sent_at{};
  };

  void give_up_before(std::uint64_t number);

  CongestionWindow window_;
  std::map<std::uint64_t, Transmission> outstanding_;  // by number
  std::deque<SegmentRef> lost_;
  std::size_t in_flight_ = 0;  // bytes
  std::uint64_t next_number_ = 0;
  std::uint64_t recovered_at_ = 0;  // losses of transmissions before this one have been answered
  std::uint64_t next_position_ = 0;
  std::optional<Duration> round_trip_;  // the shortest
  Time progress_at_{};
  int timeouts_ = 0;  // in a row

  std::map<std::uint64_t, SegmentRef> early_;  // arrived out of order, by position
  std::uint64_t expected_ = 0;                 // position
};

}  // namespace spindled::sim
