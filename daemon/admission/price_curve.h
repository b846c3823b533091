// What a queue costs.
#pragma once

namespace spindled {

/// Equation (7) of the cost-benefit paper (section IV-B.3): nothing for an empty queue, `price_max` for one of
/// `soft_limit` packets, and growing exponentially between and beyond. Finite for every length.
double queue_price(double packets, double soft_limit, double price_max);

}  // namespace spindled
