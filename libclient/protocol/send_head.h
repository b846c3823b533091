// The heads of `send` and `message` frames, in front of what they carry: inline, as each message has one.
#pragma once

#include "libclient/common/framing.h"
#include "libclient/protocol/client_frames.h"

namespace spindle::protocol {

// Beside the service, in one byte.
inline constexpr std::uint8_t kSelfDiscardBit = 0x08;  // of a `send`
inline constexpr std::uint8_t kPlaceBit = 0x08;        // of a `message`
inline constexpr std::uint8_t kHeadersBit = 0x10;      // of both

/// What a frame says takes fewer instructions to write than to measure, so its length comes last: the head of the frame
/// goes to where `writer` is, in front of what `body` has written behind room for it. `chunk_bytes` are to follow.
/// `writer` goes on behind that. It is not written to meanwhile, so that the compiler keeps its copy in registers.
inline void end_head(Writer& writer, ClientFrame type, const Writer& body, std::size_t chunk_bytes) {
  const std::size_t body_bytes = body.size() - writer.size() - kFrameHeadBytes;
  write_frame_head(writer, static_cast<std::uint8_t>(type), body_bytes + chunk_bytes);
  writer = body;
}

/// No head of a `send` is longer.
inline constexpr std::size_t kSendHeadBytesMax = kFrameHeadBytes + 5 + 1 + 2 + 5;

/// write_send_head_before().
inline void put_send_head(Writer& writer, const Send& send, std::size_t chunk_bytes) {
  Writer body = writer;
  body.u32(0);
  body.varint(send.handle);
  body.u8(static_cast<std::uint8_t>(send.service | (send.self_discard ? kSelfDiscardBit : 0) |
                                    (send.has_headers ? kHeadersBit : 0)));
  body.u16(send.type);
  body.varint(send.total);
  end_head(writer, ClientFrame::send, body, chunk_bytes);
}

}  // namespace spindle::protocol
