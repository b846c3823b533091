// What layers above ask of the overlay for frames of a view.
#pragma once

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"
#include "daemon/overlay/frame_handler.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Frames of the installed view. Implemented by the overlay.
class StreamTransport {
 public:
  virtual ~StreamTransport() = default;
  /// Before anything is sent: whom frames of a type go up to. Each type has one handler.
  virtual void handle(LinkFrame type, FrameHandler handler) = 0;

  /// Sends a body, in one or two parts, to all of `to` other than this daemon.
  virtual void multicast(const MemberSet& to, const Slice& head, const Slice& tail) = 0;
  /// As above for an unreliable message: dropped on every link whose queue is long.
  virtual void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) = 0;
  /// Sends a short frame of that type; its content is copied.
  virtual void send(LinkFrame type, const MemberSet& to, ByteView content) = 0;
};

}  // namespace spindled
