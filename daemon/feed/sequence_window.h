// Which of the latest sequences have come.
#pragma once

#include <cstdint>
#include <vector>

namespace spindled {

/// A bitmap over the sequences up to the highest one that has come, which moves with it. It grows, by the power of two,
/// as long as what must be kept would move out of it.
class SequenceWindow {
 public:
  static constexpr std::uint64_t kSpanMin = 1'024;
  static constexpr std::uint64_t kSpanMax = 65'536;

  /// Nothing up to `highest` has come.
  explicit SequenceWindow(std::uint64_t highest) : highest_(highest), words_(kSpanMin / 64) {}

  std::uint64_t highest() const { return highest_; }
  std::uint64_t span() const { return 64 * words_.size(); }
  /// Whether it is behind the highest one by so much that nothing is known of it.
  bool is_before(std::uint64_t sequence) const { return sequence / 64 + words_.size() <= highest_ / 64; }
  /// Of a sequence that is not beyond the highest one, and not before the window.
  bool contains(std::uint64_t sequence) const {
    return (words_[sequence / 64 % words_.size()] >> (sequence % 64) & 1) != 0;
  }
  void insert(std::uint64_t sequence) { words_[sequence / 64 % words_.size()] |= std::uint64_t{1} << (sequence % 64); }

  /// `highest` is the highest now; it has not come, nor has what is in between. What is from `keep` on stays in the
  /// window as far as it may grow.
  void advance(std::uint64_t highest, std::uint64_t keep) {
    // By one word more than what is kept, as a word that is begun is cleared as a whole.
    while (highest + 64 >= keep + span() && span() < kSpanMax) grow();
    const std::uint64_t first = highest_ / 64 + 1, last = highest / 64;
    const std::uint64_t count = last + 1 - first < words_.size() ? last + 1 - first : words_.size();
    for (std::uint64_t i = 0; last >= first && i < count; ++i) words_[(last - i) % words_.size()] = 0;
    highest_ = highest;
  }

 private:
  void grow() {
    std::vector<std::uint64_t> larger(2 * words_.size());
    const std::uint64_t last = highest_ / 64;
    for (std::uint64_t i = 0; i < words_.size() && i <= last; ++i) {
      larger[(last - i) % larger.size()] = words_[(last - i) % words_.size()];
    }
    words_ = std::move(larger);
  }

  std::uint64_t highest_;
  std::vector<std::uint64_t> words_;
};

}  // namespace spindled
