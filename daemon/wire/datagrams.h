// The datagrams between neighbouring daemons, which feeds travel in.
//
//   u64  token   the receiver's: it names the link and its epoch
//   u32  hop     counts the datagrams of this direction and epoch: what is missing was lost
//   ...  frames, each of u8 type, u16 length, and then so many bytes
//
// A frame of a feed names the view that its indices and sets are of by the lowest bits of the view's number, and the
// feed by its origin's index and a number of the origin's. Sequences are the lowest 32 bits of 64.
//
// `read_...` functions are given what follows the head of a frame, and give nothing where that is malformed. What they
// give refers to those bytes. A frame has one encoding, but for the padding of a probe.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/base/member_set.h"
#include "daemon/wire/sequence_bits.h"

namespace spindled {

using spindle::ByteView;
using spindle::Reader;
using spindle::Writer;

inline constexpr std::size_t kDatagramHeadBytes = 12;
inline constexpr std::size_t kDatagramFrameHeadBytes = 3;
/// What a u16 says.
inline constexpr std::size_t kDatagramFrameBytesMax = 0xffff;

enum class DatagramFrame : std::uint8_t { packet = 1, nak = 2, gone = 3, beat = 4, probe = 5 };

struct DatagramHead {
  std::uint64_t token = 0;
  std::uint32_t hop = 0;

  bool operator==(const DatagramHead&) const = default;
};

void write_datagram_head(Writer& writer, const DatagramHead& head);
std::optional<DatagramHead> read_datagram_head(ByteView datagram);

struct DatagramFrameView {
  std::uint8_t type = 0;
  ByteView body;
};

void write_datagram_frame_head(Writer& writer, DatagramFrame type, std::size_t length);
/// The first frame of `rest`, which is set to what follows it. Nothing where it does not fit into `rest`.
std::optional<DatagramFrameView> next_datagram_frame(ByteView& rest);

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
  static constexpr std::uint8_t kBundle = 0x04;  // several messages
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
///   set     affected  who is to have the repair; empty: not known yet
///   u32     first     sequence
///   u8 n, n bytes     bitmap: the first sequence, bit 0, is in it, and the last byte is not zero
struct FeedNak {
  static constexpr std::uint8_t kServed =
      0x01;  // the repair is on its way, or none is wanted: only the rate is concerned
  static constexpr std::uint8_t kDown = 0x02;  // on its way from the turning point to a replier
  static constexpr std::uint8_t kFlags = 0x03;

  FeedRef ref;
  std::uint8_t flags = 0;
  std::uint8_t attempt = 1;
  std::uint8_t hops = 0;
  MemberIndex reporter = 0;
  std::uint32_t held_us = 0;
  MemberSet affected;
  std::uint32_t first = 0;
  SequenceBits bits;

  bool is_served() const { return (flags & kServed) != 0; }
  bool is_down() const { return (flags & kDown) != 0; }
  bool operator==(const FeedNak&) const = default;
};

inline constexpr std::uint8_t kNakHopsMax = 32;
/// The longest body of a NAK.
inline constexpr std::size_t kNakBytesMax =
    2 + 3 * spindle::kVarintBytesMax + 3 + 4 + (1 + kMembersMax / 8) + 4 + 1 + SequenceBits::kBytesMax;

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

/// Whether the way is open, how long it takes, and what it loses: u8 kind, u64 time, u32 received, u32 highest, and
/// zero bytes up to the size that is tried. An answer has the time of its question, and no more bytes than it.
struct Probe {
  enum class Kind : std::uint8_t { question, answer };

  Kind kind = Kind::question;
  std::uint64_t time = 0;      // of the clock of who asks
  std::uint32_t received = 0;  // datagrams in this epoch,
  std::uint32_t highest = 0;   // and the highest hop number
  std::size_t padding = 0;     // bytes

  bool operator==(const Probe&) const = default;
};

inline constexpr std::size_t kProbeBytesMin = 17;

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
void write_probe(Writer& writer, const Probe& probe);  // kProbeBytesMin + padding
std::optional<Probe> read_probe(ByteView body);

}  // namespace spindled
