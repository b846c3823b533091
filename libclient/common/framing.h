// The frame that every stream of Spindle is cut into, between daemons and between client and daemon:
//
//   u24  length of what follows the head, little-endian
//   u8   type
//   ...  length bytes
//
// Which types exist, and how long each may be, is the business of the protocol that uses it.
#pragma once

#include <cstdint>
#include <optional>

#include "libclient/common/bytes.h"

namespace spindle {

inline constexpr std::size_t kFrameHeadBytes = 4;
/// What the length field can express; each protocol has lower limits of its own.
inline constexpr std::size_t kFrameLengthMax = (1u << 24) - 1;

struct FrameHead {
  std::uint32_t length = 0;
  std::uint8_t type = 0;
};

inline void write_frame_head(Writer& writer, std::uint8_t type, std::size_t length) {
  writer.u24(static_cast<std::uint32_t>(length));
  writer.u8(type);
}

/// The head at the start of `bytes`, or nothing while fewer than kFrameHeadBytes are there.
inline std::optional<FrameHead> read_frame_head(ByteView bytes) {
  if (bytes.size() < kFrameHeadBytes) return std::nullopt;
  Reader reader(bytes.first(kFrameHeadBytes));
  FrameHead head;
  head.length = reader.u24();
  head.type = reader.u8();
  return head;
}

}  // namespace spindle
