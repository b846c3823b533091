// Percentiles of many durations in little memory.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace spuser {

/// Counts durations in classes that are at most 1/64 wide of what they hold.
class Latencies {
 public:
  void add(std::uint64_t nanoseconds) {
    ++counts_[index(nanoseconds)];
    ++total_;
    if (nanoseconds > max_) max_ = nanoseconds;
  }
  std::uint64_t total() const { return total_; }
  std::uint64_t max() const { return max_; }
  /// The upper end of the class that the `fraction` of all durations reaches; 0 where there are none.
  std::uint64_t percentile(double fraction) const {
    const auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return upper_end(i) < max_ ? upper_end(i) : max_;
    }
    return max_;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr std::uint64_t kClasses = 1u << kBits;  // of each power of two

  // Values below kClasses have a class each; of larger ones the leading bit and the kBits bits behind it count.
  static std::size_t index(std::uint64_t value) {
    if (value < kClasses) return static_cast<std::size_t>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kBits;
    return static_cast<std::size_t>((shift + 1) * kClasses + (value >> shift) - kClasses);
  }
  static std::uint64_t upper_end(std::size_t index) {
    if (index < kClasses) return index;
    const unsigned shift = static_cast<unsigned>(index / kClasses) - 1;
    const std::uint64_t first = (index % kClasses + kClasses) << shift;
    return first + ((std::uint64_t{1} << shift) - 1);
  }

  std::array<std::uint64_t, (64 - kBits + 1) * kClasses> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace spuser
