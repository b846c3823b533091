// What the overlay hands up to admission.
#pragma once

#include "daemon/base/time.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

class PriceFrames {
 public:
  virtual ~PriceFrames() = default;
  /// Another daemon of the installed view tells a price. Whether it is news, to be passed on.
  virtual bool price_received(Time now, const Price& price) = 0;
};

}  // namespace spindled
