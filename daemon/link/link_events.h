// What the link layer hands up, to the overlay.
#pragma once

#include "daemon/base/result.h"
#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/link/link_id.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "daemon/wire/partition_order.h"

namespace spindled {

class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  /// The handshake with the neighbour is complete; frames may be sent.
  virtual void link_up(Time now, LinkId link) = 0;
  /// An established link is gone; the id is free for another after this call.
  virtual void link_down(Time now, LinkId link, const Error& reason) = 0;
  /// A frame arrived, of a type that links do not keep to themselves (FrameReach). `body` is what follows the frame
  /// head, within the size limit of its type, and not otherwise checked.
  virtual void frame_received(Time now, LinkId link, LinkFrame type, Slice body) = 0;
  /// The smoothed round-trip time of the link was measured anew, or another weight is configured for it now.
  virtual void round_trip_changed(Time now, LinkId link) = 0;
  /// A handshake, whether it ends in a link or not, told of this order.
  virtual void partition_learned(Time now, const PartitionOrder& order) = 0;
};

}  // namespace spindled
