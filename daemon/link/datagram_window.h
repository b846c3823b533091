// Which datagrams of a link have come.
#pragma once

#include <bitset>
#include <cstdint>

namespace spindled {

/// Takes each number once. Numbers start at 1 and travel as their lowest 32 bits. Of those that are far behind the
/// highest one nothing is known, and they count as taken.
class DatagramWindow {
 public:
  static constexpr std::uint64_t kSize = 4096;

  /// The number that those bits are the lowest of: the one that is next to the highest so far.
  std::uint64_t number_of(std::uint32_t bits) const {
    const auto ahead = static_cast<std::int32_t>(bits - static_cast<std::uint32_t>(highest_));
    if (ahead >= 0) return highest_ + static_cast<std::uint64_t>(ahead);
    const std::uint64_t behind = static_cast<std::uint64_t>(-static_cast<std::int64_t>(ahead));
    return behind < highest_ ? highest_ - behind : 0;
  }
  /// Whether `number` may be taken.
  bool is_new(std::uint64_t number) const {
    if (number > highest_) return true;
    return number != 0 && highest_ - number < kSize && !taken_[number % kSize];
  }
  /// `number` is new.
  void take(std::uint64_t number) {
    if (number > highest_) {
      if (number - highest_ >= kSize) {
        taken_.reset();
      } else {
        for (std::uint64_t i = highest_ + 1; i < number; ++i) taken_.reset(i % kSize);
      }
      highest_ = number;
    }
    taken_.set(number % kSize);
    ++received_;
  }

  std::uint64_t highest() const { return highest_; }  // 0: none has come
  std::uint64_t received() const { return received_; }

 private:
  std::uint64_t highest_ = 0;
  std::uint64_t received_ = 0;
  std::bitset<kSize> taken_;
};

}  // namespace spindled
