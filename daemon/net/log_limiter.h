// How many lines of one kind reach the log: a stranger who connects in a loop must not fill the disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/log.h"

namespace spindled {

/// A token bucket for each kind of line. The lines that find none are counted, and some seconds later one line tells
/// their number.
class LogLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Kind {
    std::string_view room;
    std::string_view format;

    auto operator<=>(const Kind&) const = default;
  };
  struct Summary {
    Kind kind;
    LogLevel level{};
    std::uint64_t lines = 0;  // that were left out
    std::chrono::seconds span{};
  };

  /// From the first line that is left out to the summary.
  static constexpr std::chrono::seconds kSummaryDelay{10};

  /// 0 is no limit. As many lines may also come at once.
  explicit LogLimiter(std::size_t lines_per_minute) : limit_(static_cast<double>(lines_per_minute)) {}

  /// Whether this line may be written. `kind` refers to text that lives as long as the program.
  bool admit(const Kind& kind, LogLevel level, Time now);

  /// When the next summary is due; nothing where no line has been left out.
  std::optional<Time> next_summary() const;
  /// The summaries that are due, or all.
  std::vector<Summary> take_summaries(Time now, bool all = false);

 private:
  struct Bucket {
    double tokens = 0;
    Time filled{};               // when `tokens` was true
    std::uint64_t left_out = 0;  // since `left_out_since`
    Time left_out_since{};
    LogLevel level{};  // of the last line that was left out
  };

  const double limit_;
  std::map<Kind, Bucket> buckets_;  // bounded by the formats in the program
};

}  // namespace spindled
