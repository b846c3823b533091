// Several messages of one client that travel as one.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/base/slab.h"

namespace spindled {

/// Small messages of a client to the same destinations that come together go as one through the network and through the
/// order: what each costs there does not depend on its size. They share a packet and its price. A bundle is not split:
/// its messages are delivered one behind the other, in the same view, or not at all.
///
/// What stands in a bundle, for each message:
///
///   u16     type   the application's tag
///   varint  total  bytes of the payload
///   ...     payload
struct BundledMessage {
  std::uint16_t type = 0;
  ByteView payload;
};

/// What a bundle takes at most. With the heads in front of it, but for long lists of destinations, it is one packet
/// (kPacketBytes) on every link.
inline constexpr std::size_t kBundleBytesMax = 1300;

/// What a message with so much payload takes of that.
std::size_t bundled_size(std::size_t payload);
void append_bundled(std::vector<std::uint8_t>& bundle, const BundledMessage& message);
/// Replaces `messages` by those of the bundle, which they refer to; false where the bytes are not exactly one or
/// several messages.
bool read_bundle(ByteView bundle, std::vector<BundledMessage>& messages);

}  // namespace spindled
