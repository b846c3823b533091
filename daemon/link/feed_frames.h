// What the datagram channels of links hand up.
#pragma once

#include <cstdint>

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/link/link_id.h"

namespace spindled {

class FeedFrames {
 public:
  virtual ~FeedFrames() = default;
  /// A frame came by datagram, or over the connection of the link in its place. Frames may be lost and change their
  /// order, and come once at most. False: `body` is malformed, and the link is to be closed.
  virtual bool feed_frame_received(Time now, LinkId link, std::uint8_t type, ByteView body) = 0;
  /// The link is gone: nothing comes or goes on it, and its id may become that of another.
  virtual void feed_link_down(Time now, LinkId link) = 0;
};

}  // namespace spindled
