// The cost of a link in shortest paths.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/time.h"

namespace spindled {

/// A configured weight, or one that follows the smoothed round-trip time in steps: level 0 is 500 µs and less, each
/// further level half as long again as the one before. The weight of a level is in proportion to its round-trip time,
/// so that the weights of the links of a path add up to something like its delay. A level is left only when the
/// round-trip time is a quarter beyond its bounds, so noise changes nothing.
class LinkWeight {
 public:
  LinkWeight() = default;
  /// `configured` 0: derive it.
  explicit LinkWeight(std::uint32_t configured) : configured_(configured) {}

  /// Zero: not measured yet. Returns whether the weight has changed.
  bool update(Duration round_trip);

  std::uint32_t value() const;

 private:
  std::uint32_t configured_ = 0;
  bool measured_ = false;
  std::size_t level_ = 0;
};

}  // namespace spindled
