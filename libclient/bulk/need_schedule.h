// When a receiver tells what it needs.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace spindle::bulk {

/// A span of time, or a point of it since whatever start, the same in all calls.
using Nanoseconds = std::chrono::nanoseconds;

/// Every 250 ms while there is news, at once where that saves what would be sent for nothing, and again when nothing
/// has come for a second.
class NeedSchedule {
 public:
  static constexpr Nanoseconds kInterval = std::chrono::milliseconds(250);
  static constexpr Nanoseconds kSilence = std::chrono::seconds(1);

  /// What is needed is no longer what was told.
  void note_news() { has_news_ = true; }
  void note_urgent() { is_urgent_ = true; }
  /// Something of the content has come.
  void note_heard(Nanoseconds now) { heard_ = now; }
  void note_told(Nanoseconds now) {
    told_ = now;
    has_news_ = is_urgent_ = false;
  }
  /// All is there: silence is as it should be.
  void end() { is_over_ = true; }
  void begin_again() { is_over_ = false; }

  /// When it is due. Nothing: not before something happens.
  std::optional<Nanoseconds> due() const {
    if (is_urgent_) return Nanoseconds::min();
    const Nanoseconds silence = std::max(told_, heard_) + kSilence;
    if (has_news_) return is_over_ ? told_ + kInterval : std::min(told_ + kInterval, silence);
    if (is_over_) return std::nullopt;
    return silence;
  }

 private:
  Nanoseconds told_{}, heard_{};
  bool has_news_ = false;
  bool is_urgent_ = true;  // the first one
  bool is_over_ = false;
};

}  // namespace spindle::bulk
