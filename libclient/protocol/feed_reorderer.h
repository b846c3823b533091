// Puts the packets of a feed together into messages, in order or as they come, and says what is missing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libclient/protocol/feed_frames.h"
#include "libclient/protocol/instant.h"
#include "libclient/protocol/sequence_ranges.h"

namespace spindle::protocol {

/// Of one feed, for one who listens to it. From the first packet that it is given on each sequence is in one message or
/// in one gap, and never in both: a message of which a packet is missing is part of the gap. A feed that is new begins
/// with packet 0; of another who listens gets what comes from the first message that begins.
///
/// Ordered: what comes behind a packet that is missing waits for it, each packet no longer than the deadline; then what
/// is missing is a gap. What the daemon says never comes is one at once. What comes of a gap later is dropped.
///
/// As they come: a message is given when it is whole, and a gap when the daemon says so.
class FeedReorderer {
 public:
  /// A message, or packets that are missing.
  struct Output {
    std::uint64_t first = 0;
    std::uint64_t count = 0;  // of packets
    std::vector<std::uint8_t> payload{};
    std::optional<FeedGapCause> gap{};
    bool is_bundle = false;  // the payload is several messages
  };

  FeedReorderer(bool is_ordered, std::chrono::nanoseconds deadline, bool is_new)
      : is_ordered_(is_ordered), deadline_(deadline), has_begun_(is_new) {}

  void packet(Instant now, std::uint64_t sequence, std::uint8_t flags, ByteView payload);
  void gap(std::uint64_t first, std::uint64_t count, FeedGapCause cause);
  void handle_time(Instant now);
  Instant next_deadline() const { return arrivals_.empty() ? kNeverAgain : later(arrivals_.front().at, deadline_); }
  /// Nothing more comes: nothing waits any more.
  void end();

  bool has_output() const { return !output_.empty(); }
  std::vector<Output> take_output() { return std::exchange(output_, {}); }
  /// Of memory, about, that waits.
  std::size_t bytes() const { return bytes_; }

  /// What may wait in all; what is missing before it is given up then.
  static constexpr std::size_t kBytesMax = 4u << 20;
  /// Stretches of packets that may be missing at a time where packets are given as they come.
  static constexpr std::size_t kHolesMax = 4096;
  /// What a packet that waits takes beside its payload, about.
  static constexpr std::size_t kPacketBytes = 128;

 private:
  struct Packet {
    std::uint8_t flags = 0;
    std::vector<std::uint8_t> payload;
    bool begins() const { return (flags & FeedPacket::kFirst) != 0; }
    bool ends() const { return (flags & FeedPacket::kLast) != 0; }
    bool is_bundle() const { return (flags & FeedPacket::kBundle) != 0; }
  };
  using Packets = std::map<std::uint64_t, Packet>;
  struct Arrival {
    Instant at{};
    std::uint64_t sequence = 0;
  };

  bool begin(std::uint64_t sequence, bool begins_message);
  /// Whether it was given, or is known to be missing.
  bool is_settled(std::uint64_t sequence) const { return sequence < next_ || settled_.contains(sequence); }
  void keep(std::uint64_t sequence, Packet packet);
  Packets::iterator forget(Packets::iterator packet);
  /// Calls `visit(first, last)` for what is neither settled nor there.
  template <typename Visit>
  void for_each_hole(std::uint64_t first, std::uint64_t last, Visit&& visit) const;
  void give_message(Packets::iterator first, std::uint64_t last);
  void give_gap(std::uint64_t first, std::uint64_t last, FeedGapCause cause);
  /// The packets from `first` to `last`, which are there, are of no use.
  void drop(std::uint64_t first, std::uint64_t last, FeedGapCause cause);
  /// Why the packet is of no use, whose message has begun before it with what is missing.
  FeedGapCause cause_before(std::uint64_t sequence) const;

  // Ordered.
  void advance();
  /// Gives what is next, or finds that it has to wait.
  bool give_next();
  /// Does not wait for anything before `sequence` any more.
  void give_up_before(std::uint64_t sequence);
  void note_hole();

  // As they come.
  void settle(std::uint64_t first, std::uint64_t last, FeedGapCause cause = FeedGapCause::lost);
  void give_if_whole(std::uint64_t sequence);
  void break_message(std::uint64_t sequence, FeedGapCause cause);
  void lose(std::uint64_t first, std::uint64_t last, FeedGapCause cause);
  void hold_to_limits();

  const bool is_ordered_;
  const std::chrono::nanoseconds deadline_;
  bool has_begun_;
  std::uint64_t next_ = 0;  // all before it are settled
  std::uint64_t end_ = 0;   // none from there on has come
  SequenceRanges settled_;  // of those from `next_` on; ordered: that are missing
  Packets packets_;
  std::size_t bytes_ = 0;
  std::vector<Output> output_;
  std::uint64_t gap_end_ = 0;  // of the last gap that was given: what is behind it
  FeedGapCause gap_cause_ = FeedGapCause::lost;

  // Ordered.
  std::uint64_t hole_ = 0;         // the first that is neither settled nor there
  std::uint64_t scanned_ = 0;      // the message at `next_` is there up to this, and does not end before
  std::size_t scanned_bytes_ = 0;  // of it
  std::deque<Arrival> arrivals_;   // of those behind `hole_`, and of others
};

}  // namespace spindle::protocol
