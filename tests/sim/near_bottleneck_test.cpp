// A slow link a short way from those who send over it: they hear of its queue within a fraction of a millisecond, but
// only as often as prices are told.
#include <algorithm>

#include "tests/sim/bottleneck.h"

namespace spindled::sim {
namespace {

class NearBottleneck : public Bottleneck, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(NearBottleneck, ItsQueueStaysShortHoweverOftenItRunsEmpty) {
  simulate_bottleneck(GetParam());
  SimClient& far = sim().add_client(sim().host(2), "far");
  far.join("far");
  await([&] { return far.view("far") != nullptr; }, 5s, "the group is there");
  if (HasFatalFailure()) return;
  add_flooder(0, "eager", "far", 20'000);
  double longest = 0;
  for (int i = 0; i < 2000; ++i) {
    sim().run_for(10ms);
    longest = std::max(longest, narrow_link(flow(1)).queued_packets());
  }
  EXPECT_LE(longest, 500) << "the window alone would let in 8,000";
  // 250 packets of a second, the first of them without what it takes to find that out.
  EXPECT_GE(far.messages(), 20u * 250 * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NearBottleneck, ::testing::Values(1, 2, 3, 4, 5, 6));

}  // namespace
}  // namespace spindled::sim
