// When a relay looks what it has to tell upstreams.
#pragma once

#include <algorithm>

#include "daemon/base/time.h"

namespace spindled {

/// The needs of all children are merged for that, which costs the more the more they are. So it is looked at the end of
/// a turn, and not for each need; once in kInterval, but for kAhead times before; and where some of them only have more
/// than before, which nobody waits for, once in a while.
class LookTimes {
 public:
  static constexpr Duration kInterval = 5ms;
  static constexpr int kAhead = 10;
  static constexpr Duration kProgressInterval = 50ms;

  Time next() const { return next_; }
  void look_at(Time at) { next_ = std::min(next_, at); }
  /// What has happened may be urgent.
  void look_soon(Time now) { look_at(std::max(now, paid_until_ - kAhead * kInterval)); }
  /// It is not. Nothing is told of it before `at`.
  void look_later(Time now, Time at) { look_at(std::max({now, at, paid_until_ + kProgressInterval})); }
  void looked(Time now) {
    next_ = kNever;
    // Looks that were not asked for here are no reason to look later than that.
    paid_until_ = std::min(std::max(paid_until_, now), now + kAhead * kInterval) + kInterval;
  }

 private:
  Time next_ = kNever;
  Time paid_until_{};  // there have been as many looks as there may be until then
};

}  // namespace spindled
