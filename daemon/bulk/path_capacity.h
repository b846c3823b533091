// What the path to a neighbour carries.
#pragma once

#include <cstdint>

#include "daemon/base/time.h"

namespace spindled {

/// Measured while the path is busy: while its link or its hop has had more to send than was taken, for kSampleTime at
/// least. A larger sample counts at once, a smaller one by and by. What was not measured for kForgotten is to be
/// forgotten, as a path that trees avoid is never busy again.
class PathCapacity {
 public:
  static constexpr Duration kSampleTime = 200ms;
  static constexpr Duration kForgotten = 5min;

  /// `bytes`: that were ever written. `was_busy`: all the time since the call before.
  void observe(Time now, std::uint64_t bytes, bool was_busy) {
    const Duration time = now - seen_at_;
    const std::uint64_t carried = bytes - bytes_;
    seen_at_ = now;
    bytes_ = bytes;
    if (!was_busy) {
      busy_ = {};
      carried_ = 0;
      return;
    }
    busy_ += time;
    carried_ += carried;
    if (busy_ < kSampleTime) return;
    const double sample = static_cast<double>(carried_) / to_seconds(busy_);
    const double old = bytes_per_second_;
    bytes_per_second_ = sample > old ? sample : old + (sample - old) / 8;
    measured_at_ = now;
    busy_ = {};
    carried_ = 0;
  }
  /// Without anything being measured: from here on.
  void start(Time now, std::uint64_t bytes) {
    seen_at_ = now;
    bytes_ = bytes;
    busy_ = {};
    carried_ = 0;
  }
  Time over_at() const { return measured_at_ + kForgotten; }
  bool is_over(Time now) const { return bytes_per_second_ > 0 && now >= over_at(); }
  /// 0: not known.
  std::uint64_t bytes_per_second() const { return static_cast<std::uint64_t>(bytes_per_second_); }

 private:
  double bytes_per_second_ = 0;
  Time measured_at_{};
  Time seen_at_{};
  std::uint64_t bytes_ = 0;
  Duration busy_{};  // until now, without a pause
  std::uint64_t carried_ = 0;
};

}  // namespace spindled
