// How the frames of this room are put behind each other.
#pragma once

#include <vector>

#include "libclient/common/framing.h"
#include "libclient/protocol/client_frames.h"

namespace spindle::protocol {

/// Appends the head of a frame, makes room for its body, `length` bytes, and gives the writer of that.
inline Writer append_frame(std::vector<std::uint8_t>& out, ClientFrame type, std::size_t length) {
  const std::size_t start = out.size();
  out.resize(start + kFrameHeadBytes + length);
  Writer writer(out.data() + start);
  write_frame_head(writer, static_cast<std::uint8_t>(type), length);
  return writer;
}

}  // namespace spindle::protocol
