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
constexpr bool is_type(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(FrameType::collect) &&
         type <= static_cast<std::uint8_t>(FrameType::peer_leave);
}
FrameType type_of(const Frame& frame);

/// What a frame is about.
struct FrameScope {
  std::uint32_t channel = 0;    // its number on the connection, as in all frames of bulk connections
  std::uint8_t generation = 0;  // of the plan of the tree, by whose places members are named

  bool operator==(const FrameScope&) const = default;
};

/// Appends a whole frame.
void write_frame(std::vector<std::uint8_t>& out, FrameScope scope, const Frame& frame);

struct ChannelFrame {
  FrameScope scope;
  Frame frame;
};
/// From what follows the head; nothing where it is malformed, has more of anything than a member may tell, or names
/// blocks that no content has.
std::optional<ChannelFrame> read_frame(FrameType type, ByteView body);

/// What a frame takes with its head, on a connection with few channels.
std::size_t encoded_bytes(const Frame& frame);

}  // namespace spindled::mesh
