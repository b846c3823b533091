#include "daemon/overlay/link_weight.h"

#include <algorithm>
#include <array>
#include <utility>

namespace spindled {

namespace {

constexpr std::int64_t kFirstBoundUs = 500;
constexpr std::size_t kLevels = 40;  // the last begins at about an hour

/// The upper bounds of the levels, the last aside, which has none.
constexpr auto kBoundsUs = [] {
  std::array<std::int64_t, kLevels - 1> bounds{};
  std::int64_t bound = kFirstBoundUs;
  for (std::int64_t& each : bounds) {
    each = bound;
    bound += bound / 2;
  }
  return bounds;
}();

std::size_t level_of(std::int64_t round_trip_us) {
  std::size_t level = 0;
  while (level < kBoundsUs.size() && round_trip_us > kBoundsUs[level]) ++level;
  return level;
}

/// Whether the time is within the bounds of `level` or so near that the level is kept.
bool is_near(std::size_t level, std::int64_t round_trip_us) {
  const bool too_long = level < kBoundsUs.size() && round_trip_us > kBoundsUs[level] + kBoundsUs[level] / 4;
  const bool too_short = level > 0 && round_trip_us < kBoundsUs[level - 1] - kBoundsUs[level - 1] / 4;
  return !too_long && !too_short;
}

}  // namespace

bool LinkWeight::update(Duration round_trip) {
  if (configured_ != 0 || round_trip <= Duration::zero()) return false;
  if (++updates_ > kWindow) {
    updates_ = 1;
    shortest_before_ = std::exchange(shortest_, Duration::max());
  }
  shortest_ = std::min(shortest_, round_trip);
  const Duration shortest = std::min(shortest_, shortest_before_);
  const std::int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(shortest).count();
  if (measured_ && is_near(level_, us)) return false;
  measured_ = true;
  const std::uint32_t before = value();
  level_ = level_of(us);
  return value() != before;
}

std::uint32_t LinkWeight::value() const {
  if (configured_ != 0) return configured_;
  if (level_ == 0) return 1;
  return static_cast<std::uint32_t>(1 + kBoundsUs[level_ - 1] / kFirstBoundUs);
}

}  // namespace spindled
