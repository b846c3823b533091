// Sequences of a feed that are missing, and why.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "libclient/protocol/feed_frames.h"

namespace spindle::protocol {

/// Ranges that touch each other are one, and where one of them is `slow` all of it is: so there are no more of them
/// than there are sequences between them.
class SequenceRanges {
 public:
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    FeedGapCause cause = FeedGapCause::lost;
    std::uint64_t count() const { return last - first + 1; }
    bool operator==(const Range&) const = default;
  };

  /// Some of these may be there.
  void add(std::uint64_t first, std::uint64_t last, FeedGapCause cause = FeedGapCause::lost) {
    auto at = ranges_.upper_bound(first);
    if (at != ranges_.begin() && std::prev(at)->second.last + 1 >= first) --at;
    while (at != ranges_.end() && at->first <= last + 1) {
      first = std::min(first, at->first);
      last = std::max(last, at->second.last);
      cause = std::max(cause, at->second.cause);
      at = ranges_.erase(at);
    }
    ranges_.emplace_hint(at, first, Rest{last, cause});
  }
  /// What is there below `sequence` is not any more.
  void forget_before(std::uint64_t sequence) {
    while (!ranges_.empty() && ranges_.begin()->first < sequence) {
      const auto first = ranges_.begin();
      const Rest rest = first->second;
      ranges_.erase(first);
      if (rest.last >= sequence) ranges_.emplace(sequence, rest);
    }
  }
  /// The one that has `sequence` in it.
  std::optional<Range> find(std::uint64_t sequence) const {
    const auto behind = ranges_.upper_bound(sequence);
    if (behind == ranges_.begin() || std::prev(behind)->second.last < sequence) return std::nullopt;
    return to_range(*std::prev(behind));
  }
  bool contains(std::uint64_t sequence) const { return find(sequence).has_value(); }
  /// Calls `visit(first, last)` for those from `first` to `last` that are not there.
  template <typename Visit>
  void for_each_missing(std::uint64_t first, std::uint64_t last, Visit&& visit) const {
    for (std::uint64_t at = first; at <= last;) {
      if (const std::optional<Range> range = find(at)) {
        at = range->last + 1;
        continue;
      }
      const auto next = ranges_.upper_bound(at);
      const std::uint64_t end = next == ranges_.end() ? last : std::min(last, next->first - 1);
      visit(at, end);
      at = end + 1;
    }
  }

  bool empty() const { return ranges_.empty(); }
  std::size_t size() const { return ranges_.size(); }
  Range front() const { return to_range(*ranges_.begin()); }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& range : ranges_) visit(to_range(range));
  }

  /// Of memory, about.
  static constexpr std::size_t kRangeBytes = 64;

 private:
  struct Rest {
    std::uint64_t last = 0;
    FeedGapCause cause = FeedGapCause::lost;
  };
  static Range to_range(const std::pair<const std::uint64_t, Rest>& range) {
    return {range.first, range.second.last, range.second.cause};
  }

  std::map<std::uint64_t, Rest> ranges_;  // by the first
};

}  // namespace spindle::protocol
