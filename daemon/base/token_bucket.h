// A rate, with room for bursts.
#pragma once

#include <optional>

#include "daemon/base/time.h"

namespace spindled {

/// Fills at a constant rate up to a bound. It may be overdrawn once as long as there is something in it: what is taken
/// need not be known before. Once it is empty nothing is to be had until it has what comes in within kRefill, or is
/// full.
class TokenBucket {
 public:
  /// Who has spent everything has so much come together: what enters at once shares the frames and the turns of all
  /// daemons, where changes one by one would keep each of them busy with nothing else.
  static constexpr Duration kRefill = 5ms;

  void fill(Time now, double rate, double burst);
  bool is_open() const { return !empty_; }
  void take(double tokens) {
    tokens_ -= tokens;
    if (tokens_ <= 0) empty_ = true;
  }
  /// When it will be open.
  Time opens_at(double rate, double burst) const;

 private:
  double tokens_ = 0;
  bool empty_ = false;             // and has not had enough again since
  std::optional<Time> filled_at_;  // nothing: it was never used, and is full
};

}  // namespace spindled
