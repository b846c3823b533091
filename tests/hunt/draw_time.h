// The times that plans are drawn with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "daemon/base/random.h"
#include "tests/hunt/plan.h"

namespace spindled::hunt {

inline Duration us(std::uint64_t count) { return std::chrono::microseconds(static_cast<std::int64_t>(count)); }

/// Of the plan's faults, those behind that time.
inline std::vector<Duration> faults_behind(const Plan& plan, Duration from) {
  std::vector<Duration> faults;
  for (const Step& step : plan.steps) {
    if (is_fault(step.kind) && step.at > from) faults.push_back(step.at);
  }
  return faults;
}

/// Any time from then on, until `end`.
inline Duration draw_time_between(Random& random, Duration from, Duration end) {
  return from + us(random.below(static_cast<std::uint64_t>(std::max<Duration>(end - from, 1ms) / 1us)));
}

/// Half of these times are near a fault, where there is any.
inline Duration draw_time_near_faults(const Plan& plan, Random& random, Duration from, Duration end) {
  const std::vector<Duration> faults = faults_behind(plan, from);
  if (faults.empty() || !random.chance(0.5)) return draw_time_between(random, from, end);
  return std::max(from, faults[random.below(faults.size())] - 20ms + us(random.below(600'000)));
}

}  // namespace spindled::hunt
