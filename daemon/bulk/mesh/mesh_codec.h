// The mesh's frames as bytes, on hops, beside those of libclient/bulk/bulk_frames.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/bulk/mesh/mesh_frames.h"
#include "libclient/common/bytes.h"

namespace spindled::mesh {

using spindle::ByteView;

enum class FrameType : std::uint8_t {
  collect = 16,
  distribute = 17,
  peer_request = 18,
  peer_answer = 19,
  wants = 20,
  holding_report = 21,
  block_done = 22,
  peer_leave = 23,
};
FrameType type_of(const Frame& frame);

/// Appends a whole frame. `channel` is its number on the connection, as in all frames of bulk connections.
void write_frame(std::vector<std::uint8_t>& out, std::uint32_t channel, const Frame& frame);

struct ChannelFrame {
  std::uint32_t channel = 0;
  Frame frame;
};
/// From what follows the head; nothing where it is malformed, has more of anything than a member may tell, or names
/// blocks that no content has.
std::optional<ChannelFrame> read_frame(FrameType type, ByteView body);

/// What a frame takes with its head, on a connection with few channels.
std::size_t encoded_bytes(const Frame& frame);

}  // namespace spindled::mesh
