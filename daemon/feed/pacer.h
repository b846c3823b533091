// When the next packet of a feed may leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "daemon/base/time.h"

namespace spindled {

/// Lets packets out one by one, at even intervals, or, where more than one fits into kBurst, what fits at once. Who
/// comes late while packets wait makes up for kLate. What was not used while there was nothing to send is lost.
class FeedPacer {
 public:
  static constexpr Duration kBurst = 1ms;
  static constexpr Duration kLate = 10ms;
  static constexpr Duration kQueue = 20ms;

  /// Bytes a second. `silent_until`: nothing leaves before, and what would have is lost.
  void set_rate(Time now, double rate, Time silent_until) {
    fill(now);
    rate_ = rate;
    if (silent_until <= filled_at_) return;
    filled_at_ = silent_until;
    forget_unused();
  }
  /// There is something to send from now on, and was nothing before.
  void begin(Time now) {
    fill(now);
    forget_unused();
  }
  bool may_send(Time now) {
    fill(now);
    return now >= filled_at_ && credit_ >= 0;
  }
  /// A packet, or a repair, has left. It need not be known before how long it is: the next one waits for it.
  void sent(std::size_t bytes) { credit_ -= static_cast<double>(bytes); }
  Time next_at() const {
    if (credit_ >= 0) return filled_at_;
    return filled_at_ + from_seconds(-credit_ / rate_) + Duration(1);
  }

  /// What the source may have waiting, so that it is kQueue old at most when it leaves; a packet in any case.
  std::size_t queue_bytes(std::size_t packet_bytes) const {
    return std::max(packet_bytes, static_cast<std::size_t>(rate_ * to_seconds(kQueue)));
  }

 private:
  void fill(Time now) {
    if (now <= filled_at_) return;
    const double earned = rate_ * to_seconds(now - std::exchange(filled_at_, now));
    credit_ = std::min(credit_ + earned, rate_ * to_seconds(kLate));
  }
  void forget_unused() { credit_ = std::min(credit_, rate_ * to_seconds(kBurst)); }

  double rate_ = 0;
  double credit_ = 0;  // bytes
  Time filled_at_{};
};

}  // namespace spindled
