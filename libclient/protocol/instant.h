// Time, as the protocol's engines are told it.
#pragma once

#include <chrono>

namespace spindle::protocol {

/// Since an epoch of the driver's choice; it never goes back.
using Instant = std::chrono::nanoseconds;
inline constexpr Instant kNeverAgain = Instant::max();

/// Where that is too far away to tell, never.
constexpr Instant later(Instant now, std::chrono::nanoseconds span) {
  return span >= kNeverAgain - now ? kNeverAgain : now + span;
}

}  // namespace spindle::protocol
