// Equation (7) of the cost-benefit paper.
#include "daemon/admission/price_curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace spindled {
namespace {

TEST(PriceCurve, IsTheEquationUpToTheSoftLimit) {
  for (const double soft_limit : {1.0, 100.0, 25'000.0}) {
    for (const double price_max : {20.0, 3.0}) {
      EXPECT_EQ(queue_price(0, soft_limit, price_max), 0);
      EXPECT_NEAR(queue_price(soft_limit, soft_limit, price_max), price_max, 1e-9);
      for (const double share : {0.1, 0.5, 0.9}) {
        EXPECT_NEAR(queue_price(share * soft_limit, soft_limit, price_max),
                    price_max * (std::exp(share) - 1) / (std::exp(1.0) - 1), 1e-9);
      }
    }
  }
  // Half a queue is cheaper than half the price: the curve is convex.
  EXPECT_NEAR(queue_price(50, 100, 20), 7.5508, 1e-4);
}

TEST(PriceCurve, NeverFallsAndStaysFinite) {
  double before = -1;
  for (int packets = 0; packets <= 300; ++packets) {
    const double price = queue_price(packets, 100, 20);
    EXPECT_GT(price, before) << packets;
    before = price;
  }
  EXPECT_GT(before, 20);
  for (const double packets : {1e3, 1e6, 1e18}) {
    const double price = queue_price(packets, 100, 20);
    EXPECT_TRUE(std::isfinite(price)) << packets;
    EXPECT_GE(price, before) << packets;
    before = price;
  }
}

}  // namespace
}  // namespace spindled
