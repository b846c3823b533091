// When an origin says what it has sent, because nothing follows that would show it.
#pragma once

#include <algorithm>

#include "daemon/base/time.h"

namespace spindled {

/// Beats come 2 ms after the last packet, and then after twice as long each time, up to half a second. They end when
/// they would be that far apart, and repairs are of no use any more.
class Beats {
 public:
  static constexpr Duration kFirst = 2ms;
  static constexpr Duration kLast = 500ms;

  void sent(Time now) {
    sent_at_ = now;
    next_at_ = now + kFirst;
    interval_ = kFirst;
  }
  Time next_at() const { return next_at_; }
  /// One was sent.
  void beaten(Time now, Duration repair_for) {
    if (interval_ == kLast && now - sent_at_ >= repair_for) {
      next_at_ = kNever;
      return;
    }
    interval_ = std::min(2 * interval_, kLast);
    next_at_ = now + interval_;
  }

 private:
  Time sent_at_{};
  Time next_at_ = kNever;
  Duration interval_ = kFirst;
};

}  // namespace spindled
