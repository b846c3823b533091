// A slow link a short way from those who send over it: they hear of its queue within a fraction of a millisecond, but
// only as often as prices are told.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/sim/bottleneck.h"

namespace spindled::sim {
namespace {

class NearBottleneck : public Bottleneck, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(NearBottleneck, ItsQueueStaysShortHoweverOftenItRunsEmpty) {
  simulate_bottleneck(GetParam());
  SimClient& far = add_receiver({"far"});
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

/// Clients at the daemon of the slow link's near end, and clients elsewhere.
class AtTheBottleneck : public Bottleneck, public ::testing::WithParamInterface<std::pair<std::size_t, std::size_t>> {
 protected:
  std::vector<SimClient*> add_senders(std::size_t host, std::size_t count) {
    std::vector<SimClient*> senders;
    for (std::size_t i = 0; i < count; ++i) {
      senders.push_back(&sim().add_client(sim().host(host), fmt::format("s{}-{}", host, i)));
    }
    return senders;
  }
  void offer(const std::vector<SimClient*>& senders, int seconds) {
    for (int i = 0; i < 100 * seconds; ++i) {
      for (SimClient* sender : senders) {
        while (sender->unsent_bytes() < 64u << 10) {
          sender->multicast({"far"}, {.service = Service::reliable, .size = 1000});
        }
      }
      sim().run_for(10ms);
    }
  }
  double packets(std::size_t host) {
    const spindle::admin::FlowReply reply = flow(host);
    double sum = 0;
    for (const spindle::admin::Flow& row : reply.flows()) sum += static_cast<double>(row.packets());
    return sum;
  }
};

TEST_P(AtTheBottleneck, OnesShareIsHardlyLargerThanElsewhere) {
  const auto [near, elsewhere] = GetParam();
  simulate_bottleneck(91);
  add_receiver({"far"});
  if (HasFatalFailure()) return;
  std::vector<SimClient*> senders = add_senders(0, elsewhere);
  for (SimClient* sender : add_senders(1, near)) senders.push_back(sender);
  for (SimClient* sender : senders) await([&] { return sender->is_welcome(); }, 1s, "a sender is welcome");
  if (HasFatalFailure()) return;
  offer(senders, 20);
  const double near_before = packets(1), elsewhere_before = packets(0);
  offer(senders, 60);
  const double of_near = (packets(1) - near_before) / static_cast<double>(near);
  const double of_elsewhere = (packets(0) - elsewhere_before) / static_cast<double>(elsewhere);
  EXPECT_GT(of_near, of_elsewhere * 2 / 3);
  EXPECT_LT(of_near, of_elsewhere * 3 / 2);
}

INSTANTIATE_TEST_SUITE_P(Shares, AtTheBottleneck,
                         ::testing::Values(std::pair(1, 1), std::pair(1, 20), std::pair(5, 5)));

INSTANTIATE_TEST_SUITE_P(Seeds, NearBottleneck, ::testing::Values(1, 2, 3, 4, 5, 6));

}  // namespace
}  // namespace spindled::sim
