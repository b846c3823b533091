// Several messages of one client that travel as one.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/base/slab.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Small messages of a client to the same destinations that come together go as one through the network and through the
/// order: what each costs there does not depend on its size. They share a packet and its price. A bundle is not taken
/// apart on its way: its messages are handed to the receivers one behind the other, in the same view, or not at all.
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

void append_bundled(std::vector<std::uint8_t>& bundle, const BundledMessage& message);
/// Replaces `messages` by those of the bundle, which they refer to; false where the bytes are not exactly one or
/// several messages.
bool read_bundle(ByteView bundle, std::vector<BundledMessage>& messages);

/// What a message counts in a bundle, of kBundleWeightMax in all: what it takes there, or, where that is more, half of
/// what it takes in its frame to a client, in which sender and destinations have `names_bytes` (`packed_names_size`).
/// Otherwise tiny messages with long names would come to many times what was paid for. Of one that is too heavy it is a
/// little more than the whole.
std::uint32_t bundle_weight(std::size_t payload_bytes, std::size_t names_bytes);

}  // namespace spindled
