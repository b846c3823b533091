// What the overlay hands up to the streams.
#pragma once

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Frames of the installed view that reached this daemon.
class StreamFrames {
 public:
  virtual ~StreamFrames() = default;
  virtual void data_received(Time now, Slice body) = 0;
  virtual void report_received(Time now, const Report& report) = 0;
  virtual void stable_received(Time now, const Stable& stable) = 0;
  virtual void ready_received(Time now, const Ready& ready) = 0;
};

}  // namespace spindled
