#include "daemon/admission/price_curve.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spindled {

namespace {
/// A queue of so many times its soft limit costs no more than one of this length: nobody can pay for either.
constexpr double kRatioMax = 5;
}  // namespace

double queue_price(double packets, double soft_limit, double price_max) {
  const double ratio = std::clamp(packets / soft_limit, 0.0, kRatioMax);
  return price_max * std::expm1(ratio) / (std::numbers::e - 1);
}

}  // namespace spindled
