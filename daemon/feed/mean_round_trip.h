// The mean round trip of a link.
#pragma once

#include <algorithm>

#include "daemon/base/time.h"

namespace spindled {

/// The mean of what was measured when somebody looked, over the last kLooks of these. At four looks a second that is a
/// quarter of a minute, or several times that a queue in front of the link becomes full.
class MeanRoundTrip {
 public:
  static constexpr int kLooks = 64;

  /// `measured` is not zero.
  void look(Duration measured) {
    looks_ = std::min(looks_ + 1, kLooks);
    mean_ += (measured - mean_) / looks_;
  }
  /// Zero: nobody has looked.
  Duration mean() const { return mean_; }

 private:
  int looks_ = 0;
  Duration mean_{};
};

}  // namespace spindled
