#include "daemon/admission/benefit.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

double worth(BenefitKind kind, double receivers, double rate) { return make_benefit(kind)->of({receivers, rate}); }

TEST(Benefit, SendingHoldsAllPacketsEqual) {
  for (const double receivers : {0.0, 1.0, 500.0}) {
    for (const double rate : {0.0, 1.0, 1e6}) EXPECT_EQ(worth(BenefitKind::sending, receivers, rate), 1);
  }
}

TEST(Benefit, ReceivingGrowsWithTheReceiversAlone) {
  EXPECT_EQ(worth(BenefitKind::receiving, 1, 1000), 1);
  EXPECT_EQ(worth(BenefitKind::receiving, 40, 1000), 40);
  EXPECT_EQ(worth(BenefitKind::receiving, 40, 1), 40);
  EXPECT_EQ(worth(BenefitKind::receiving, 0, 1), 1) << "a price is divided by it";
}

TEST(Benefit, FairFavoursSlowFlowsWithinBounds) {
  // The derivative of the square root of a rate: a quarter of the rate, twice the worth.
  EXPECT_NEAR(worth(BenefitKind::fair, 1, 50) / worth(BenefitKind::fair, 1, 200), 2, 1e-9);
  double before = worth(BenefitKind::fair, 1, 0);
  const double most = before;
  for (double rate = 1e-3; rate < 1e9; rate *= 3) {
    const double now = worth(BenefitKind::fair, 1, rate);
    EXPECT_LE(now, before) << rate;
    before = now;
  }
  EXPECT_GT(before, 0) << "no flow is kept out for ever";
  EXPECT_LT(most, 1000) << "and none gets in for nothing";
  EXPECT_GT(most / before, 100);
  EXPECT_EQ(worth(BenefitKind::fair, 1, 50), worth(BenefitKind::fair, 900, 50));
}

}  // namespace
}  // namespace spindled
