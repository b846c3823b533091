// What a flow sends at a price, once it has had the time to find out.
#pragma once

#include <cmath>

namespace spindled {

/// A flow whose packets cost AdmissionConfig::price_threshold sends so many a second in balance.
inline constexpr double kThresholdRate = 1e6;

/// Packets a second that every flow sends in balance whose packets cost `price`: eight times as dear is a 512th.
/// `threshold` is AdmissionConfig::price_threshold.
inline double rate_of_balance(double threshold, double price) {
  const double ratio = threshold / price;
  return kThresholdRate * ratio * ratio * ratio;
}

/// The inverse: what a packet has to cost where a flow is to send so many a second.
inline double price_of_balance(double threshold, double rate) { return threshold * std::cbrt(kThresholdRate / rate); }

}  // namespace spindled
