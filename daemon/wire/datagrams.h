// The frames of feeds in datagrams between neighbouring daemons (datagram_envelope.h).
//
// A frame of a feed names the view that its indices and sets are of by the lowest bits of the view's number, and the
// feed by its origin's index and a number of the origin's. Sequences are the lowest 32 bits of 64.
//
// `read_...` functions are given what follows the head of a frame, and give nothing where that is malformed. What they
// give refers to those bytes. A frame has one encoding.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/base/member_set.h"
#include "daemon/wire/datagram_envelope.h"
#include "daemon/wire/sequence_bits.h"

namespace spindled {

/// Types of frames; the channel of the link has another one for itself (kProbeFrame).
enum class DatagramFrame : std::uint8_t { packet = 1, nak = 2, gone = 3, beat = 4 };

inline void write_datagram_frame_head(Writer& writer, DatagramFrame type, std::size_t length) {
  write_datagram_frame_head(writer, static_cast<std::uint8_t>(type), length);
}

/// Which feed a frame is of, and in which view it says so.
struct FeedRef {
  std::uint16_t view = 0;
  MemberIndex origin = 0;
  std::uint32_t feed = 0;

  bool operator==(const FeedRef&) const = default;
};

/// A packet of a feed:
///
///   u16     view
///   varint  origin
///   varint  feed
///   u32     sequence
///   u8      flags    below
///   u8      missing  so many sequences right before this one the sending daemon lacks and asks for: who reads this
///   asks
///                    for them only when a second try would be due. A loss then causes one NAK, and not one for each
///                    link below it
///   set     to       members still to be reached; not empty
///   ...     payload
struct FeedPacket {
  static constexpr std::uint8_t kFirst = 0x01;   // fragment of a message
  static constexpr std::uint8_t kLast = 0x02;    // fragment of it
  static constexpr std::uint8_t kBundle = 0x04;  // several messages, none of them in fragments (feed_bundle.h)
  static constexpr std::uint8_t kRepair = 0x08;  // sent because somebody asked
  static constexpr std::uint8_t kFlags = 0x0f;

  FeedRef ref;
  std::uint32_t sequence = 0;
  std::uint8_t flags = 0;
  std::uint8_t missing = 0;
  ByteView to;  // encoded MemberSet, decoded only where it is needed
  ByteView payload;

  bool is_repair() const { return (flags & kRepair) != 0; }
};

/// Sequences that somebody lacks:
///
///   u16     view
///   varint  origin
///   varint  feed
///   u8      flags     below
///   u8      try       from 1
///   u8      hops      that it may still go, at most kNakHopsMax
///   varint  reporter  the member that has found the gap
///   u32     held_us   time between the first sign of the gap and now, but for what links took
///   u32     way_us    mean round trips of the links upwards that it has come by, but for the last one, in all;
///                     kWayUnknown where one is not known
///   set     affected  who is to have the repair; empty: not known yet, which it is on the way down
///   u32     first     sequence
///   u8 n, n bytes     bitmap: the first sequence, bit 0, is in it, and the last byte is not zero
struct FeedNak {
  static constexpr std::uint8_t kServed =
      0x01;  // the repair is on its way, or none is wanted: only the rate is concerned
  static constexpr std::uint8_t kDown = 0x02;  // on its way from the turning point to a replier
  static constexpr std::uint8_t kFlags = 0x03;
  static constexpr std::uint32_t kWayUnknown = 0xffffffff;

  FeedRef ref;
  std::uint8_t flags = 0;
  std::uint8_t attempt = 1;
  std::uint8_t hops = 0;
  MemberIndex reporter = 0;
  std::uint32_t held_us = 0;
  MemberSet affected;
  std::uint32_t first = 0;
  SequenceBits bits;
  std::uint32_t way_us = 0;

  bool is_served() const { return (flags & kServed) != 0; }
  bool is_down() const { return (flags & kDown) != 0; }
  bool operator==(const FeedNak&) const = default;
};

inline constexpr std::uint8_t kNakHopsMax = 32;
/// The longest body of a NAK.
inline constexpr std::size_t kNakBytesMax =
    2 + 3 * spindle::kVarintBytesMax + 3 + 8 + (1 + kMembersMax / 8) + 4 + 1 + SequenceBits::kBytesMax;

/// Sequences from `first` to `last` are not to be had any more: u16 view, varint origin, varint feed, set to (not
/// empty), u32 first, u32 last.
struct FeedGone {
  FeedRef ref;
  MemberSet to;
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // at most 2^31 - 1 behind the first

  bool operator==(const FeedGone&) const = default;
};

/// What its origin has sent and still has: u16 view, varint origin, varint feed, u8 missing, set to (not empty), u32
/// highest, u32 oldest. `missing` counts sequences up to the highest one, as in a packet those before it.
struct FeedBeat {
  FeedRef ref;
  std::uint8_t missing = 0;
  MemberSet to;
  std::uint32_t highest = 0;
  std::uint32_t oldest = 0;

  bool operator==(const FeedBeat&) const = default;
};

/// The longest body of a gone or a beat.
inline constexpr std::size_t kShortDatagramFrameBytesMax =
    2 + 2 * spindle::kVarintBytesMax + 1 + (1 + kMembersMax / 8) + 8;

// Bodies only; `write_datagram_frame_head` goes in front.
std::size_t packet_size(const FeedPacket& packet);
void write_packet(Writer& writer, const FeedPacket& packet);
std::optional<FeedPacket> read_packet(ByteView body);
/// Decodes `FeedPacket::to`, which read_packet has found well-formed.
MemberSet read_to(const FeedPacket& packet);

void write_nak(Writer& writer, const FeedNak& nak);  // at most kNakBytesMax
std::optional<FeedNak> read_nak(ByteView body);
void write_gone(Writer& writer, const FeedGone& gone);  // at most kShortDatagramFrameBytesMax
std::optional<FeedGone> read_gone(ByteView body);
void write_beat(Writer& writer, const FeedBeat& beat);  // at most kShortDatagramFrameBytesMax
std::optional<FeedBeat> read_beat(ByteView body);

}  // namespace spindled
