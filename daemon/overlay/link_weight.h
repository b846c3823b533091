// The cost of a link in shortest paths.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/time.h"

namespace spindled {

/// A configured weight, or one that follows the round-trip time in steps, as it is when nothing waits on the link: the
/// shortest of lately, for what traffic of its own makes a packet wait says nothing of a path, and to avoid a link
/// because it is used would only move the traffic back and forth. For the same reason the transport's round trips
/// count, where they are known (Driver::shortest_round_trip): the daemon's own are longer when its host is busy. Level
/// 0 is 500 µs and less, each further level half as long again as the one before. The weight of a level is in
/// proportion to its round-trip time, so that the weights of the links of a path add up to something like its delay. A
/// level is left only when the round-trip time is a quarter beyond its bounds, so noise changes nothing.
class LinkWeight {
 public:
  LinkWeight() = default;
  /// `configured` 0: derive it.
  explicit LinkWeight(std::uint32_t configured) : configured_(configured) {}

  /// How many updates "lately" means at least; twice as many at most, besides what the transport remembers itself.
  static constexpr int kWindow = 120;

  /// A new measurement; zero: none yet. Returns whether the weight has changed.
  bool update(Duration round_trip);

  std::uint32_t value() const;
  /// 0: it is derived.
  std::uint32_t configured() const { return configured_; }

 private:
  std::uint32_t configured_ = 0;
  bool measured_ = false;
  // The shortest of this window of updates, and of the one before.
  Duration shortest_ = Duration::max();
  Duration shortest_before_ = Duration::max();
  int updates_ = 0;
  std::size_t level_ = 0;
};

}  // namespace spindled
