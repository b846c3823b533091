// What the order layer asks of the overlay.
#pragma once

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Frames of the installed view. Implemented by the overlay.
class StreamTransport {
 public:
  virtual ~StreamTransport() = default;
  /// Sends a body, in one or two parts, to all of `to` other than this daemon.
  virtual void multicast(const MemberSet& to, const Slice& head, const Slice& tail) = 0;
  /// As above for an unreliable message: dropped on every link whose queue is long.
  virtual void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) = 0;
  virtual void send_report(MemberIndex to, const Report& report) = 0;
  virtual void send_stable(const MemberSet& to, const Stable& stable) = 0;
  virtual void send_ready(MemberIndex to, const Ready& ready) = 0;
};

}  // namespace spindled
