// For how long the fastest may wait for others.
#pragma once

#include <algorithm>

#include "daemon/base/time.h"

namespace spindled {

/// A moment, which is there again once nobody has waited for 200 times as long.
class Patience {
 public:
  static constexpr Duration kMost = 10ms;

  /// Whether it may be waited, or gone on with that. It is not spent in crumbs: waiting begins with half of it.
  bool is_left(Time now) {
    const Duration since = std::min<Duration>(now - at_, kMost * kShare);
    left_ = is_spent_ ? std::max(left_ - since, Duration{}) : std::min(left_ + since / kShare, kMost);
    at_ = now;
    return left_ > (is_spent_ ? Duration{} : kMost / 2);
  }
  /// Whether it is waited from then on.
  void set_spent(bool is_spent) { is_spent_ = is_spent; }
  Duration left() const { return left_; }

 private:
  static constexpr int kShare = 200;

  Duration left_ = kMost;
  Time at_{};  // as of then
  bool is_spent_ = false;
};

}  // namespace spindled
