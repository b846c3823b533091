// What every datagram between neighbouring daemons has, whatever its frames are about:
//
//   u64  token     by which the receiver knows which link it is of
//   u32  sequence  the lowest bits of its number; the first datagram of a link in a direction has number 1
//   ...  frames, each of u8 type, u16 length, and then so many bytes
//
// Where the link is protected the frames are encrypted, and 16 bytes of a tag follow them. Datagrams that go over the
// connection of the link consist of their frames alone.
//
// `read_...` functions give nothing for what is malformed. What they give refers to the bytes that they are given.
#pragma once

#include <cstdint>
#include <optional>

#include "libclient/common/bytes.h"

namespace spindled {

using spindle::ByteView;
using spindle::Reader;
using spindle::Writer;

inline constexpr std::size_t kDatagramHeadBytes = 12;
inline constexpr std::size_t kDatagramFrameHeadBytes = 3;
/// What a u16 says.
inline constexpr std::size_t kDatagramFrameBytesMax = 0xffff;

struct DatagramHead {
  std::uint64_t token = 0;
  std::uint32_t sequence = 0;

  bool operator==(const DatagramHead&) const = default;
};

void write_datagram_head(Writer& writer, const DatagramHead& head);
std::optional<DatagramHead> read_datagram_head(ByteView datagram);

struct DatagramFrameView {
  std::uint8_t type = 0;
  ByteView body;
};

void write_datagram_frame_head(Writer& writer, std::uint8_t type, std::size_t length);
/// The first frame of `rest`, which is set to what follows it. Nothing where it does not fit into `rest`.
std::optional<DatagramFrameView> next_datagram_frame(ByteView& rest);

/// The type of frame that the channel of a link keeps to itself; all others are those of feeds.
inline constexpr std::uint8_t kProbeFrame = 5;

/// Whether datagrams get through, how long that takes, and how many are lost:
///
///   u8   kind      0 question, 1 answer
///   u64  mark      of the question; nobody can guess it
///   u32  received  so many datagrams of the link have come to who sends this,
///   u32  highest   and this is the highest of their numbers; the lowest bits of both
///   ...  zero bytes, in a question: up to the length that is tried
struct Probe {
  enum class Kind : std::uint8_t { question, answer };

  Kind kind = Kind::question;
  std::uint64_t mark = 0;
  std::uint32_t received = 0;
  std::uint32_t highest = 0;
  std::size_t padding = 0;  // bytes

  bool operator==(const Probe&) const = default;
};

/// Its body without padding.
inline constexpr std::size_t kProbeBytesMin = 17;

void write_probe(Writer& writer, const Probe& probe);
std::optional<Probe> read_probe(ByteView body);

}  // namespace spindled
