// Whole frames of the kinds of which the protocol library writes the head alone, as what follows need not be copied.
#pragma once

#include <cstdint>
#include <vector>

#include "libclient/include/spindle/types.h"
#include "libclient/protocol/client_frames.h"

namespace spindle::test {

template <typename Message>
void append_payload_frame(std::vector<std::uint8_t>& out, const Message& message, std::size_t head_size,
                          void (*write_head)(spindle::Writer&, const Message&)) {
  const std::size_t start = out.size();
  out.resize(start + head_size);
  spindle::Writer writer(out.data() + start);
  write_head(writer, message);
  out.insert(out.end(), message.chunk.begin(), message.chunk.end());
}

inline void append_send_frame(std::vector<std::uint8_t>& out, const protocol::Send& send) {
  append_payload_frame(out, send, protocol::send_head_size(send), protocol::write_send_head);
}

/// An agreed message that fits into one frame.
inline void append_agreed_message(std::vector<std::uint8_t>& out, std::uint32_t handle, spindle::ByteView payload) {
  append_send_frame(out, {handle, static_cast<std::uint8_t>(Service::agreed), false, 0,
                          static_cast<std::uint32_t>(payload.size()), payload});
}

inline void append_message_frame(std::vector<std::uint8_t>& out, const protocol::MessageHead& message) {
  append_payload_frame(out, message, protocol::message_head_size(message), protocol::write_message_head);
}

}  // namespace spindle::test
