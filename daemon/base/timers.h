// Deadlines of one unit, in a table indexed by an enum that ends with `count_`.
#pragma once

#include <algorithm>
#include <array>

#include "daemon/base/time.h"

namespace spindled {

template <typename Timer>
class Timers {
 public:
  Timers() { deadlines_.fill(kNever); }

  void set(Timer timer, Time deadline) { deadlines_[index(timer)] = deadline; }
  /// Sets the deadline only where it is earlier than the present one.
  void set_earlier(Timer timer, Time deadline) {
    deadlines_[index(timer)] = std::min(deadlines_[index(timer)], deadline);
  }
  void stop(Timer timer) { deadlines_[index(timer)] = kNever; }
  bool is_set(Timer timer) const { return deadlines_[index(timer)] != kNever; }
  Time deadline(Timer timer) const { return deadlines_[index(timer)]; }

  /// Whether the deadline has come; if so the timer is stopped.
  bool take_due(Timer timer, Time now) {
    if (deadlines_[index(timer)] > now) return false;
    stop(timer);
    return true;
  }
  Time next() const { return *std::min_element(deadlines_.begin(), deadlines_.end()); }

 private:
  static constexpr std::size_t index(Timer timer) { return static_cast<std::size_t>(timer); }

  std::array<Time, static_cast<std::size_t>(Timer::count_)> deadlines_;
};

}  // namespace spindled
