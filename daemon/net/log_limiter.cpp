#include "daemon/net/log_limiter.h"

#include <algorithm>

namespace spindled {

bool LogLimiter::admit(const Kind& kind, LogLevel level, Time now) {
  if (limit_ == 0) return true;
  const auto [at, is_new] = buckets_.try_emplace(kind);
  Bucket& bucket = at->second;
  if (is_new) {
    bucket.tokens = limit_;
  } else {
    const std::chrono::duration<double, std::ratio<60>> minutes = now - bucket.filled;
    bucket.tokens = std::min(limit_, bucket.tokens + minutes.count() * limit_);
  }
  bucket.filled = now;
  if (bucket.tokens >= 1) {
    --bucket.tokens;
    return true;
  }
  if (bucket.left_out++ == 0) bucket.left_out_since = now;
  bucket.level = level;
  return false;
}

std::optional<LogLimiter::Time> LogLimiter::next_summary() const {
  std::optional<Time> next;
  for (const auto& [kind, bucket] : buckets_) {
    if (bucket.left_out == 0) continue;
    const Time due = bucket.left_out_since + kSummaryDelay;
    if (!next || due < *next) next = due;
  }
  return next;
}

std::vector<LogLimiter::Summary> LogLimiter::take_summaries(Time now, bool all) {
  std::vector<Summary> due;
  for (auto& [kind, bucket] : buckets_) {
    if (bucket.left_out == 0 || (!all && bucket.left_out_since + kSummaryDelay > now)) continue;
    const auto span = std::chrono::ceil<std::chrono::seconds>(now - bucket.left_out_since);
    due.push_back({kind, bucket.level, bucket.left_out, span});
    bucket.left_out = 0;
  }
  return due;
}

}  // namespace spindled
