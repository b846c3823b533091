// A slow link a short way from those who send over it: they hear of its queue within a fraction of a millisecond, but
// only as often as prices are told.
#include <algorithm>

#include "tests/sim/ask_admin.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class NearBottleneck : public Scenario, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  static constexpr std::size_t kSoftLimit = 50;
  static constexpr std::size_t kMessageBytes = 1000;

  /// d000 - d001 - d002, of which the second link carries a hundredth of the first.
  void simulate_bottleneck() {
    NodeConfig node;
    node.admission.queue_packets = kSoftLimit;
    simulate_cluster(GetParam(), Shape::line, 3, node);
    PathProperties narrow;
    narrow.bytes_per_second = 250'000;
    narrow.send_buffer = 4096;
    sim().network().set_path(1, 2, narrow);
  }
  /// Packets that wait at d001 for the slow link.
  double queue() {
    spindle::admin::Request request;
    request.mutable_flow();
    const spindle::admin::FlowReply reply = ask_admin(sim(), 1, request).flow();
    for (const auto& link : reply.links()) {
      if (link.peer() == "d002") return link.queued_packets();
    }
    return 0;
  }
};

TEST_P(NearBottleneck, ItsQueueStaysShortHoweverOftenItRunsEmpty) {
  simulate_bottleneck();
  SimClient& far = sim().add_client(sim().host(2), "far");
  far.join("far");
  await([&] { return far.view("far") != nullptr; }, 5s, "the group is there");
  if (HasFatalFailure()) return;
  SimClient& eager = sim().add_client(sim().host(0), "eager");
  for (int i = 0; i < 20'000; ++i) eager.multicast({"far"}, {.size = kMessageBytes, .self_discard = true});
  double longest = 0;
  for (int i = 0; i < 2000; ++i) {
    sim().run_for(10ms);
    longest = std::max(longest, queue());
  }
  EXPECT_LE(longest, 500) << "the window alone would let in 8,000";
  // 250 packets of a second, the first of them without what it takes to find that out.
  EXPECT_GE(far.messages(), 20u * 250 * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NearBottleneck, ::testing::Values(1, 2, 3, 4, 5, 6));

}  // namespace
}  // namespace spindled::sim
