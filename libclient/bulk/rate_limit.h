// The most that may be sent in a second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "libclient/bulk/need_schedule.h"

namespace spindle::bulk {

/// Who has sent less than it might have is let make up for a fiftieth of a second of it.
class RateLimit {
 public:
  /// 0: as much as goes.
  void set(std::uint64_t bytes_per_second) { bytes_per_second_ = bytes_per_second; }

  bool may_send(Nanoseconds now) {
    is_waiting_ = bytes_per_second_ != 0 && now < free_at_;
    return !is_waiting_;
  }
  void note_sent(Nanoseconds now, std::size_t bytes) {
    if (bytes_per_second_ == 0) return;
    const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second_);
    free_at_ = std::max(free_at_, now - kBurst) +
               std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(std::min(seconds, 3600.0)));
  }
  /// When it may send what `may_send` has held back last; nothing: it has held back nothing.
  std::optional<Nanoseconds> due() const { return is_waiting_ ? std::optional(free_at_) : std::nullopt; }

 private:
  static constexpr Nanoseconds kBurst = std::chrono::milliseconds(20);

  std::uint64_t bytes_per_second_ = 0;
  Nanoseconds free_at_{};
  bool is_waiting_ = false;
};

}  // namespace spindle::bulk
