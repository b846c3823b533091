// Durations, counted in buckets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spindle::bench {

/// Log-linear: exact below 128 ns, then 64 buckets for each doubling, so that a value is known to within 1.6 %.
class Histogram {
 public:
  /// A negative duration counts as zero.
  void record(std::int64_t nanoseconds);

  /// "[[nanoseconds, count], ...]": the middle of each bucket that is not empty, ascending.
  std::string to_json() const;

 private:
  static constexpr std::size_t kExact = 128;
  static constexpr std::size_t kPerDoubling = 64;

  std::vector<std::uint64_t> counts_;
};

}  // namespace spindle::bench
