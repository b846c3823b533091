// How many bytes come in a second.
#pragma once

#include <algorithm>
#include <cstdint>

#include "libclient/bulk/need_schedule.h"

namespace spindle::bulk {

/// Counts in windows of a second: the rate is that of the last whole one and of what the current one has so far.
class RateMeter {
 public:
  void add(Nanoseconds now, std::uint64_t bytes) {
    advance(now);
    current_ += bytes;
  }
  /// Bytes per second.
  std::uint64_t rate(Nanoseconds now) const {
    RateMeter by_now = *this;
    by_now.advance(now);
    const double seconds =
        std::chrono::duration<double>(kWindow + std::max(now - by_now.begin_, Nanoseconds{})).count();
    return static_cast<std::uint64_t>(static_cast<double>(by_now.former_ + by_now.current_) / seconds);
  }

 private:
  static constexpr Nanoseconds kWindow = std::chrono::seconds(1);

  void advance(Nanoseconds now) {
    if (now - begin_ < kWindow) return;
    const bool is_next = now - begin_ < 2 * kWindow;
    former_ = is_next ? current_ : 0;
    current_ = 0;
    begin_ = is_next ? begin_ + kWindow : now;
  }

  Nanoseconds begin_{};  // of the current window
  std::uint64_t former_ = 0, current_ = 0;
};

}  // namespace spindle::bulk
