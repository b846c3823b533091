// Needs of many runs: what relays make of them, and that who has said one gets what he lacks.
#include <gtest/gtest.h>

#include "daemon/bulk/relay/bounded_need.h"
#include "tests/unit/bulk_relay_net.h"

namespace spindled {
namespace {

using relay::kRunsMax;
using spindle::bulk::BlockSet;
using spindle::bulk::kBlocksMax;
using spindle::bulk::Need;
using test::RelayNet;

/// Each second block of these.
BlockSet half_of(std::uint32_t first, std::uint32_t end) {
  BlockSet blocks;
  for (std::uint32_t block = first; block < end; block += 2) blocks.add(block);
  return blocks;
}

TEST(BoundedNeeds, SayNothingOfBlocksThatTheContentHasNot) {
  Need need{half_of(0, kBlocksMax), {{1, 5}, {3, 5}, {12'001, 5}}};
  relay::bound(need, 4);
  EXPECT_EQ(need.complete, half_of(0, 4));
  EXPECT_EQ(need.begun, (std::vector<Need::Begun>{{1, 5}, {3, 5}}));
}

TEST(BoundedNeeds, ThatAreShortStayAsTheyAre) {
  const Need said{half_of(0, 2 * kRunsMax), {{1, 5}}};
  ASSERT_EQ(said.complete.runs().size(), kRunsMax);
  Need need = said;
  relay::bound(need, kBlocksMax);
  EXPECT_EQ(need, said);
  EXPECT_EQ(relay::surely_complete(need), said.complete);
}

TEST(BoundedNeeds, SayExactlyWhatIsLackingFirst) {
  for (const bool is_size_known : {true, false}) {
    const std::uint32_t end = is_size_known ? 50'000 : kBlocksMax;
    Need need{half_of(1, kBlocksMax), {{0, 7}, {2 * kRunsMax, 7}, {49'998, 7}}};
    relay::bound(need, is_size_known ? std::optional(end) : std::nullopt);
    BlockSet expected = half_of(1, 2 * kRunsMax);
    EXPECT_EQ(relay::surely_complete(need), expected);
    expected.add_run(2 * kRunsMax + 1, end);
    EXPECT_EQ(need.complete, expected);
    EXPECT_EQ(need.begun, (std::vector<Need::Begun>{{0, 7}, {2 * kRunsMax, 7}}));
    const Need before = need;
    relay::bound(need, end);
    EXPECT_EQ(need, before);
  }
}

/// What of a relay tells how much it has to do, and keeps.
class NeedsOfMany : public testing::Test, protected RelayOutput {
 protected:
  static constexpr Time kNow{1h};
  static constexpr ConnectionId kParent{1};
  void may_send(ConnectionId) override {}
  void send_need(ConnectionId, std::uint8_t, const Need& need) override { told_ = need; }
  void send_grant(ConnectionId, std::uint8_t, std::uint64_t) override {}
  void send_release(ConnectionId, std::uint8_t) override {}
  void ask_index(ConnectionId) override {}

  Need told_;
  const spindle::test::Sha256 sha256_{};
  ChannelRelay relay_{*this, RelayNet::kSymbolBytes, 1, sha256_};
};

TEST_F(NeedsOfMany, TakeLittleMemoryAndAreToldInFewRuns) {
  relay_.set_blocks(kBlocksMax);
  relay_.add_upstream(kNow, kParent, false);
  for (std::uint64_t i = 0; i < 20; ++i) {
    relay_.add_child(kNow, ConnectionId{10 + i}, "");
    Need need{half_of(static_cast<std::uint32_t>(i % 2), kBlocksMax), {}};
    need.serves = true;
    relay_.need_received(kNow, ConnectionId{10 + i}, need);
  }
  relay_.handle_time(kNow + 1s);
  EXPECT_LE(told_.complete.runs().size(), 2 * kRunsMax);
  EXPECT_GT(relay_.needs_bytes(), 20 * kRunsMax * sizeof(BlockSet::Run));
  EXPECT_LT(relay_.needs_bytes(), 20 * 64u << 10);
}

TEST(ChannelRelayNeeds, OfManyRunsAreFulfilled) {
  RelayNet net({6 * kRunsMax, 1});
  const std::size_t a = net.add_daemon("a"), b = net.add_daemon("b");
  net.connect(a, b, 100);
  net.add_source(a);
  const RelayNet::Receiver& receiver = net.add_receiver(b, 100, true, half_of(0, net.content().blocks));
  ASSERT_TRUE(net.run(20'000));
  EXPECT_LE(receiver.symbols, net.content().blocks / 2 + 100);
}

TEST(ChannelRelayNeeds, OfThoseWhoHaveDifferentHalvesAreFulfilled) {
  RelayNet net({6 * kRunsMax, 1});
  const std::size_t a = net.add_daemon("a"), b = net.add_daemon("b"), c = net.add_daemon("c");
  net.connect(a, b, 100);
  net.connect(a, c, 100);
  const std::uint32_t blocks = net.content().blocks;
  net.add_receiver(a, 100, true, half_of(0, blocks));
  net.add_receiver(a, 100, true, half_of(1, blocks));
  net.add_receiver(b, 100, true, half_of(1, blocks));
  net.add_receiver(c, 100, true);
  EXPECT_TRUE(net.run(30'000));
}

/// Nobody has the first block: all the same nobody is sent over and over what he has, as more than he has said.
TEST(ChannelRelayNeeds, OfWhichSomethingIsNotToBeHadComeToRest) {
  RelayNet net({6 * kRunsMax, 1});
  const std::size_t a = net.add_daemon("a"), b = net.add_daemon("b");
  net.connect(a, b, 100);
  const std::uint32_t blocks = net.content().blocks;
  BlockSet both = half_of(2, blocks);
  both.add_run(blocks - 100, blocks);
  net.add_receiver(a, 100, true, both);
  const RelayNet::Receiver& near = net.add_receiver(a, 100, true, both);
  const RelayNet::Receiver& far = net.add_receiver(b, 100, true, both);
  net.run_for(10'000);
  EXPECT_EQ(near.symbols, 0u);
  EXPECT_EQ(far.symbols, 0u);
}

}  // namespace
}  // namespace spindled
