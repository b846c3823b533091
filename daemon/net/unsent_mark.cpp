#include "daemon/net/unsent_mark.h"

#include <algorithm>
#include <cmath>

namespace spindled {

namespace {

/// What a link carries in this time may wait in the kernel: it covers a turn of the daemon and the scheduler's delay.
constexpr double kSpanS = 0.015;
/// How much of the sums is left when a new measurement is added. Long measurements count more than short ones: a burst
/// that an acknowledgement sets free says little.
constexpr double kMemory = 0.75;
/// Changes by less are not worth a system call.
constexpr double kChangeMin = 0.2;

}  // namespace

void UnsentMark::filled(Time now, std::size_t unsent) {
  filled_at_ = now;
  unsent_ = unsent;
}

bool UnsentMark::drained(Time now, std::size_t unsent) {
  taken_bytes_ = kMemory * taken_bytes_ + static_cast<double>(unsent_ - std::min(unsent, unsent_));
  taken_seconds_ = kMemory * taken_seconds_ + to_seconds(now - filled_at_);
  const auto before = static_cast<double>(bytes_);
  // Twice as much at a time: what leaves at once after a rest fills the path and is not its rate. A link that really is
  // fast gets to the top within a few writes.
  const double highest = std::min(2 * before, static_cast<double>(kMax));
  const double wanted = taken_seconds_ > 0 ? taken_bytes_ / taken_seconds_ * kSpanS : highest;
  const double after = std::clamp(wanted, static_cast<double>(kMin), std::max(highest, static_cast<double>(kMin)));
  const bool is_bound = after == static_cast<double>(kMin) || after == static_cast<double>(kMax);
  if (after == before || (!is_bound && std::abs(after - before) < kChangeMin * before)) return false;
  bytes_ = static_cast<std::size_t>(after);
  return true;
}

}  // namespace spindled
