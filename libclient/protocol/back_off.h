// When to try again to connect.
#pragma once

#include <chrono>
#include <cstdint>

namespace spindle::protocol {

/// The first attempt is made at once. The waits before the further ones double up to a bound, and vary by a half of
/// themselves, so that clients that have lost one daemon together do not come back together.
class BackOff {
 public:
  explicit BackOff(std::uint64_t seed) : state_(seed * 2 + 1) {}

  void reset() { attempts_ = 0; }
  /// How long to wait before the next attempt.
  std::chrono::nanoseconds next();

  static constexpr std::chrono::milliseconds kFirst{100};
  static constexpr std::chrono::milliseconds kLongest{5'000};

 private:
  std::uint64_t state_;
  unsigned attempts_ = 0;
};

}  // namespace spindle::protocol
