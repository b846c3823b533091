// What a queue costs.
#pragma once

#include "daemon/base/time.h"

namespace spindled {

/// Equation (7) of the cost-benefit paper (section IV-B.3): nothing for an empty queue, `price_max` for one of
/// `soft_limit` packets, and growing exponentially between and beyond. Finite for every length.
double queue_price(double packets, double soft_limit, double price_max);

/// What a queue costs is not worth a word below this part of the fee, as long as it has cost nothing: a packet or two
/// that wait for a moment, a client that had to wait for a processor.
inline constexpr double kOnsetFees = 1.0 / 4;

/// A queue that has had a price and is empty costs this part of the fee for so long. While it does, senders do
/// not probe as they do on an idle network, where their rate grows e-fold in a few round trips: faster than news of a
/// new queue, which come every AdmissionConfig::update_min, could hold them back.
inline constexpr Duration kLinger = 1s;
inline constexpr double kLingerFees = 1.0 / 16;

}  // namespace spindled
