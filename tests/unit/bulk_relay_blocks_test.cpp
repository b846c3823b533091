// Whole blocks that peers ask for, and are asked for.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/bulk_relay_net.h"

namespace spindled::test {
namespace {

using spindle::bulk::BlockSet;
using spindle::bulk::kEnough;
using spindle::bulk::Need;

constexpr std::uint32_t kBlocks = 16, kSymbols = 64;

/// A daemon whose client has everything gives its peer, whose client has nothing.
struct Late {
  Late() {
    has_all = net.add_daemon("has_all");
    late = net.add_daemon("late");
    holder = &net.add_receiver(has_all, 1e9, true, BlockSet::of_first(kBlocks));
    to_late = net.connect_peers(has_all, late, 10);
    client = &net.add_receiver(late);
    net.run_for(20);
  }
  ChannelRelay& giver() { return net.relay(has_all); }

  RelayNet net{{kBlocks, kSymbols}};
  std::size_t has_all = 0, late = 0;
  ConnectionId to_late{};
  RelayNet::Receiver* holder = nullptr;
  RelayNet::Receiver* client = nullptr;
};

TEST(ChannelRelayBlocks, AreGivenToWhoAsksForThem) {
  Late with;
  EXPECT_EQ(with.net.sent_over(with.to_late), 0u) << "nothing comes along the tree";
  with.giver().blocks_asked(with.to_late, {{9, kSymbols}, {8, kSymbols}});
  with.net.run_for(1000);
  EXPECT_TRUE(with.client->complete.contains(8));
  EXPECT_TRUE(with.client->complete.contains(9));
  EXPECT_EQ(with.client->complete.count(), 2u);
  EXPECT_EQ(with.net.sent_over(with.to_late), 2 * kSymbols);
  EXPECT_EQ(with.client->duplicates, 0u);
}

TEST(ChannelRelayBlocks, OfABlockThatHasBegunOnlyTheRestIsGiven) {
  Late with;
  with.giver().blocks_asked(with.to_late, {{7, 20}});
  with.net.run_for(1000);
  EXPECT_EQ(with.client->held[7].size(), 20u);
  EXPECT_GE(*with.client->held[7].begin(), kSymbols) << "what nobody else gives";
  with.giver().blocks_asked(with.to_late, {{7, kSymbols - 20}});
  with.net.run_for(1000);
  EXPECT_TRUE(with.client->complete.contains(7));
  EXPECT_EQ(with.client->duplicates, 0u);
}

TEST(ChannelRelayBlocks, WhatHasBegunGoesOnWhereMoreIsAskedFor) {
  Late with;
  with.net.set_rate(with.to_late, 0.1);
  with.giver().blocks_asked(with.to_late, {{5, kSymbols}});
  with.net.run_for(500);
  const auto given = static_cast<std::uint32_t>(with.net.sent_over(with.to_late));
  ASSERT_GT(given, 0u);
  ASSERT_LT(given, kSymbols);
  with.giver().blocks_asked(with.to_late, {{5, kSymbols - given + 2}, {4, kSymbols}});
  with.net.run_for(1000);
  EXPECT_EQ(with.client->complete.count(), 2u);
  EXPECT_EQ(with.net.sent_over(with.to_late), 2 * kSymbols);
}

TEST(ChannelRelayBlocks, WhatIsNotWantedAnyMoreIsGivenNoMore) {
  Late with;
  with.net.set_rate(with.to_late, 0.1);
  with.giver().blocks_asked(with.to_late, {{5, kSymbols}, {4, kSymbols}});
  with.net.run_for(500);
  ASSERT_GT(with.net.sent_over(with.to_late), 0u);
  ASSERT_LT(with.net.sent_over(with.to_late), kSymbols);
  with.giver().blocks_asked(with.to_late, {});
  const std::uint64_t given = with.net.sent_over(with.to_late);
  with.net.run_for(1000);
  EXPECT_EQ(with.net.sent_over(with.to_late), given);
  EXPECT_EQ(with.giver().ring_bytes(), with.giver().ring_only_bytes()) << "nothing of the stream is kept";
}

TEST(ChannelRelayBlocks, WhatNobodyHasIsPassedOver) {
  Late with;
  with.holder->complete.remove(6);
  with.net.run_for(1500);
  with.giver().blocks_asked(with.to_late, {{6, kSymbols}, {kBlocks, kSymbols}, {3, kSymbols}});
  with.net.run_for(1000);
  EXPECT_EQ(with.client->complete.count(), 1u);
  EXPECT_TRUE(with.client->complete.contains(3));
}

TEST(ChannelRelayBlocks, OfAChildInTheTreeNothingIsTakenForThat) {
  Late with;
  const ConnectionId nobody{99};
  with.giver().blocks_asked(nobody, {{1, kSymbols}});
  const ConnectionId hop = with.net.connect(with.has_all, with.net.add_daemon("child"), 10);
  with.giver().blocks_asked(hop, {{1, kSymbols}});
  with.net.run_for(100);
  EXPECT_EQ(with.net.sent_over(with.to_late), 0u);
}

TEST(ChannelRelayBlocks, ThatPeersAreAskedForNobodyAboveGives) {
  RelayNet net{{kBlocks, kSymbols}};
  const std::size_t root = net.add_daemon("root"), late = net.add_daemon("late");
  net.add_source(root);
  auto& first = net.add_receiver(root);
  ASSERT_TRUE(net.run(5000));
  auto& client = net.add_receiver(late);
  const ConnectionId peer{1000};
  net.relay(late).add_peer_sender(net.now(), peer);
  BlockSet asked;
  asked.add_run(8, kBlocks);
  net.relay(late).set_asked_of_peers(net.now(), asked);
  const ConnectionId hop = net.connect(root, late, 10);
  net.run_for(3000);
  EXPECT_EQ(client.complete, BlockSet::of_first(8));
  EXPECT_EQ(net.sent_over(hop), 8 * kSymbols);
  const Need* need = net.relay(root).need_of(hop);
  ASSERT_NE(need, nullptr);
  EXPECT_EQ(need->held_of(8), kEnough);
  EXPECT_EQ(net.relay(late).silent_since(hop), std::nullopt) << "it owes nothing";
  // Peers give nothing after all.
  net.relay(late).set_asked_of_peers(net.now(), {});
  EXPECT_TRUE(net.run(5000));
  EXPECT_EQ(first.duplicates + client.duplicates, 0u);
}

TEST(ChannelRelayBlocks, ThatClientsLackAreThoseThatNoneHereHas) {
  RelayNet net{{kBlocks, kSymbols}};
  const std::size_t daemon = net.add_daemon("daemon");
  ChannelRelay& relay = net.relay(daemon);
  EXPECT_TRUE(relay.lacked_by_clients().empty());
  BlockSet even, low = BlockSet::of_first(4);
  for (std::uint32_t block = 0; block < kBlocks; block += 2) even.add(block);
  net.add_receiver(daemon, 1e9, true, even).is_stopped = true;
  EXPECT_EQ(relay.lacked_by_clients(), difference(BlockSet::of_first(kBlocks), even));
  net.add_receiver(daemon, 1e9, true, low).is_stopped = true;
  EXPECT_EQ(relay.lacked_by_clients(), difference(difference(BlockSet::of_first(kBlocks), even), low));
}

}  // namespace
}  // namespace spindled::test
