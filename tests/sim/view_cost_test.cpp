// What a view change may cost, in time and bytes; `tools/bench views` prints the figures.
#include <gtest/gtest.h>

#include "tests/sim/view_changes.h"

namespace spindled::sim {
namespace {

/// Round trips of the diameter that a view change may take from the first daemon that notices to the last that has
/// installed the view.
constexpr double kRoundTripsMax = 10;

/// Bytes on all links for a change of a view of n daemons, as a multiple of n^2. The largest measured are 405 for a
/// join, among 8, and 433 for a merge: every link between the halves is advertised by both its ends to everybody.
constexpr std::uint64_t kAgreementMax = 450;
constexpr std::uint64_t kAgreementOfMergeMax = 550;
/// With the messages of the groups, which announce themselves anew in the view, and their stability.
constexpr std::uint64_t kAllMax = 700;

void expect_affordable(Cause cause, const ViewChangeCost& cost, bool traffic) {
  SCOPED_TRACE(testing::Message() << to_string(cause) << " of " << cost.daemons << (traffic ? ", busy" : ", idle"));
  EXPECT_LE(cost.round_trips(), kRoundTripsMax);
  EXPECT_LE(cost.settled, 10 * cost.round_trip);
  const std::uint64_t square = cost.daemons * cost.daemons;
  EXPECT_LE(cost.agreement_bytes() / square, cause == Cause::merge ? kAgreementOfMergeMax : kAgreementMax);
  if (!traffic) {
    EXPECT_LE(cost.all_bytes() / square, kAllMax);
  }
  EXPECT_GT(cost.bytes_of(Counter::bytes_commit), 0u);
}

void measure_all(std::uint64_t seed, std::size_t daemons, bool traffic) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  ViewChanges changes(seed, daemons, traffic);
  ASSERT_TRUE(changes.form()) << changes.simulator().explain();
  for (const Cause cause : kCauses) {
    const std::optional<ViewChangeCost> cost = changes.measure(cause);
    ASSERT_TRUE(cost) << to_string(cause) << "\n" << changes.simulator().explain();
    expect_affordable(cause, *cost, traffic);
  }
}

class ViewCost : public testing::TestWithParam<std::size_t> {};

TEST_P(ViewCost, IsTenRoundTripsAndQuadraticIdle) { measure_all(1, GetParam(), false); }
TEST_P(ViewCost, IsTenRoundTripsAndQuadraticBusy) { measure_all(2, GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Daemons, ViewCost, testing::Values<std::size_t>(8, 16, 32),
                         [](const auto& param) { return std::to_string(param.param); });

class ViewCostOf64Daemons : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ViewCostOf64Daemons, IdleLarge) { measure_all(GetParam(), 64, false); }
TEST_P(ViewCostOf64Daemons, BusyLarge) { measure_all(GetParam(), 64, true); }

INSTANTIATE_TEST_SUITE_P(Seeds, ViewCostOf64Daemons, testing::Range<std::uint64_t>(10, 13));

TEST(ViewCostOfMany, IsQuadraticWith128Large) { measure_all(3, 128, false); }
TEST(ViewCostOfMany, IsQuadraticWith256Large) { measure_all(4, 256, false); }

}  // namespace
}  // namespace spindled::sim
