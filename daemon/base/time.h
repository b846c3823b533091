// Time as the core knows it: nanoseconds on a clock that the driver reads, constant within a turn.
#pragma once

#include <chrono>
#include <cstdint>

namespace spindled {

using Duration = std::chrono::nanoseconds;

/// A clock without `now()`: the core is told the time and cannot ask for it.
struct NodeClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<NodeClock, Duration>;
  static constexpr bool is_steady = true;
};

/// A point on the driver's monotonic clock; its zero means nothing.
using Time = NodeClock::time_point;

/// Later than every deadline.
inline constexpr Time kNever = Time::max();

constexpr double to_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }
/// At most what a Duration can hold, some 290 years.
constexpr Duration from_seconds(double seconds) { return Duration(static_cast<Duration::rep>(seconds * 1e9)); }

using namespace std::chrono_literals;

}  // namespace spindled
