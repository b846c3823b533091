// The one source of randomness of a node: seeded from outside, so that a run can be repeated.
#pragma once

#include <cstdint>

namespace spindled {

/// xoshiro256** (Blackman and Vigna, 2018). The same seed gives the same numbers on every platform, which the standard
/// distributions do not promise. Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  /// Uniform in [0, bound); `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return high - low == UINT64_MAX ? next() : low + below(high - low + 1);
  }
  /// Uniform in [0, 1).
  double real();
  bool chance(double probability) { return real() < probability; }
  /// A generator of its own for a part, so that what one part draws does not shift what another sees.
  Random split() { return Random(next()); }

 private:
  std::uint64_t state_[4];
};

}  // namespace spindled
