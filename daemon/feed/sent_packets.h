// When the packets of a feed were sent, and which of them are known to be lost.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/base/ring.h"
#include "daemon/base/time.h"

namespace spindled {

/// Of the last kPackets packets, or of those of the last kTime. Sequences are consecutive.
class SentPackets {
 public:
  static constexpr std::size_t kPackets = 65'536;
  static constexpr Duration kTime = 10s;

  void sent(Time now, std::uint64_t sequence) {
    forget_old(now);
    if (packets_.size() == kPackets) forget_first();
    if (packets_.empty()) first_ = sequence;
    SPINDLE_CHECK(sequence == first_ + packets_.size());
    packets_.push_back({now, false});
  }
  /// Those that were sent too long ago.
  void forget_old(Time now) {
    while (!packets_.empty() && packets_.front().sent_at + kTime < now) forget_first();
    packets_.shrink();
  }
  /// From when on `forget_old` leaves nothing.
  Time forgotten_at() const { return packets_.empty() ? kNever : packets_.back().sent_at + kTime + 1ns; }
  /// Nothing: it was never sent, or too long ago.
  std::optional<Time> sent_at(std::uint64_t sequence) const {
    if (!is_kept(sequence)) return std::nullopt;
    return packets_[sequence - first_].sent_at;
  }
  /// Whether this is the first that is heard of the loss.
  bool note_lost(std::uint64_t sequence) {
    if (!is_kept(sequence)) return false;
    return !std::exchange(packets_[sequence - first_].is_lost, true);
  }
  /// Of memory.
  std::size_t bytes() const { return packets_.capacity() * sizeof(Packet); }

 private:
  struct Packet {
    Time sent_at{};
    bool is_lost = false;
  };

  bool is_kept(std::uint64_t sequence) const { return sequence >= first_ && sequence - first_ < packets_.size(); }
  void forget_first() {
    packets_.pop_front();
    ++first_;
  }

  Ring<Packet, 64> packets_;
  std::uint64_t first_ = 0;
};

}  // namespace spindled
