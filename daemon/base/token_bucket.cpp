#include "daemon/base/token_bucket.h"

#include <algorithm>

namespace spindled {

namespace {
/// Tokens with which an empty bucket is open again.
double enough(double rate, double burst) { return std::min(burst, rate * to_seconds(TokenBucket::kRefill)); }
}  // namespace

void TokenBucket::fill(Time now, double rate, double burst) {
  tokens_ = filled_at_ ? std::min(burst, tokens_ + rate * to_seconds(now - *filled_at_)) : burst;
  filled_at_ = now;
  if (tokens_ >= enough(rate, burst)) empty_ = false;
}

Time TokenBucket::opens_at(double rate, double burst) const {
  return *filled_at_ + from_seconds(std::max(0.0, (enough(rate, burst) - tokens_) / rate)) + Duration(1us);
}

}  // namespace spindled
