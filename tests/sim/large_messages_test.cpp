// Large messages over a slow link: their payload goes ahead of them, as their senders can pay.
#include <algorithm>

#include "tests/sim/bottleneck.h"

namespace spindled::sim {
namespace {

constexpr std::size_t kLarge = 100'000;

class LargeMessages : public Bottleneck {
 protected:
  /// A client at the far end of the fast link whose first large messages have made the slow one cost something.
  SimClient& add_large_sender(ClientOptions options = {}) {
    SimClient& sender = sim().add_client(sim().host(0), "large", options);
    await([&] { return sender.is_welcome(); }, 1s, "the sender is welcome");
    return sender;
  }
  std::uint64_t parts_sent(std::size_t host = 0) {
    return sim().host(host).node().counters().value(Counter::parts_sent);
  }
  std::size_t partial(std::size_t host) { return sim().host(host).node().memory().partial; }
  /// Until a part of a message is at the far daemon, and not all of it.
  void await_part() {
    await([&] { return partial(2) > 0; }, 20s, "a part of a message");
  }
  /// Until the first part of a message that follows another is there.
  void await_first_part() {
    await([&] { return partial(2) == 0; }, 20s, "the end of a message");
    await_part();
  }
  /// The first ones enter whole, and what waits behind them holds up a view, and who joins.
  void await_short_queue() {
    await([&] { return narrow_link(flow(1)).queued_packets() < 50; }, 20s, "a short queue");
  }
  /// Has the sender send `count` messages, and waits until one is entering.
  void start(SimClient& sender, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sender.multicast({"far"}, {.size = kLarge});
    await_part();
  }
};

TEST_F(LargeMessages, EnterPartByPartAndOthersGoInBetween) {
  simulate_bottleneck(1);
  SimClient& far = add_receiver({"far"});
  SimClient& sender = add_large_sender();
  SimClient& small = sim().add_client(sim().host(0), "small");
  if (HasFatalFailure()) return;
  start(sender, 40);
  if (HasFatalFailure()) return;
  sim().run_for(5s);  // the first ones entered whole, when nothing was known of the link
  const std::size_t before = far.messages();
  double longest = 0;
  for (int i = 0; i < 200; ++i) {
    small.multicast({"far"}, {.size = 100});
    sim().run_for(10ms);
    longest = std::max(longest, narrow_link(flow(1)).queued_packets());
  }
  EXPECT_LT(longest, 100) << "50 are aimed at, and a message is 72";
  EXPECT_GT(far.messages() - before, 100u) << "small ones do not wait for a whole large one";
  await([&] { return far.messages() == 240; }, 60s, "all messages");
  await_rest();
  check();
  EXPECT_GT(parts_sent(), 100u);
  EXPECT_EQ(partial(2), 0u);
}

TEST_F(LargeMessages, OfMebibytesLeaveRoomForOthersOnAnIdleWay) {
  simulate_bottleneck(1);
  SimClient& far = add_receiver({"far"});
  SimClient& sender = add_large_sender();
  if (HasFatalFailure()) return;
  sender.multicast({"far"}, {.size = 4u << 20});
  double longest = 0;
  for (int i = 0; i < 300; ++i) {
    sim().run_for(10ms);
    longest = std::max(longest, narrow_link(flow(1)).queued_packets());
  }
  EXPECT_LT(longest, 400) << "the message is 3,000";
  await([&] { return far.messages() == 1; }, 120s, "the message");
  await_rest();
  check();
}

TEST_F(LargeMessages, EnterWholeWhereNothingIsCongested) {
  simulate_cluster(2, Shape::line, 3);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  for (int i = 0; i < 20; ++i) {
    clients[0]->multicast({"g"}, {.size = kLarge});
    sim().run_for(100ms);
  }
  await_rest();
  check();
  EXPECT_EQ(clients[2]->messages(), 20u);
  EXPECT_EQ(parts_sent(), 0u);
}

TEST_F(LargeMessages, AreWholeForWhoJoinsAtAnotherDaemonMeanwhile) {
  simulate_bottleneck(3);
  SimClient& far = add_receiver({"far"});
  SimClient& sender = add_large_sender();
  if (HasFatalFailure()) return;
  start(sender, 30);
  if (HasFatalFailure()) return;
  await_short_queue();
  await_first_part();
  EXPECT_EQ(partial(1), 0u);
  SimClient& near = sim().add_client(sim().host(1), "near");
  near.join("far");
  await_group_view({&far, &near}, "far");
  EXPECT_GT(partial(2), 0u) << "the message that was entering still is";
  const std::size_t before = far.messages();
  await([&] { return far.messages() == 30; }, 60s, "all messages");
  await_rest();
  check();
  EXPECT_EQ(near.messages(), 30 - before);
  EXPECT_EQ(partial(1) + partial(2), 0u);
}

TEST_F(LargeMessages, LeaveNothingBehindWhereTheirGroupHasGone) {
  simulate_bottleneck(4);
  SimClient& far = add_receiver({"far"});
  SimClient& sender = add_large_sender();
  if (HasFatalFailure()) return;
  start(sender, 3);
  if (HasFatalFailure()) return;
  far.leave("far");
  await([&] { return sender.unsent_bytes() == 0 && partial(2) == 0; }, 60s, "the rest is sent to nobody");
  await_rest();
  check();
}

TEST_F(LargeMessages, BeginAnewWhereTheViewEnds) {
  simulate_bottleneck(5, 4);
  SimClient& far = add_receiver({"far"});
  SimClient& sender = add_large_sender();
  if (HasFatalFailure()) return;
  start(sender, 30);
  if (HasFatalFailure()) return;
  await_short_queue();
  await_part();
  const std::size_t before = far.messages();
  sim().host(3).crash();
  await([&] { return far.messages() == 30; }, 60s, "all messages");
  await_rest();
  check();
  EXPECT_LT(before, 30u);
  EXPECT_EQ(partial(2), 0u);
}

TEST_F(LargeMessages, LeaveNothingBehindWhereTheirSenderIsKilled) {
  simulate_bottleneck(6);
  SimClient& far = add_receiver({"far"});
  SimClient& sender = add_large_sender();
  if (HasFatalFailure()) return;
  start(sender, 30);
  if (HasFatalFailure()) return;
  sender.kill();
  await([&] { return partial(2) == 0; }, 10s, "nothing is left of the message");
  await_rest();
  check();
  EXPECT_LT(far.messages(), 30u);
}

TEST_F(LargeMessages, OfIndependentFlowsEnterPartByPart) {
  simulate_bottleneck(7);
  SimClient& far = add_receiver({"far", "also"});
  SimClient& sender = add_large_sender({.independent_flows = true});
  if (HasFatalFailure()) return;
  constexpr std::size_t kEach = 4;
  for (std::size_t i = 0; i < kEach; ++i) {
    sender.multicast({"far"}, {.size = kLarge});
    sender.multicast({"also"}, {.size = kLarge});
    await([&] { return far.messages() == 2 * (i + 1); }, 60s, "both");
  }
  await_rest();
  check();
  EXPECT_GT(parts_sent(), 50u);
  EXPECT_EQ(partial(2), 0u);
}

}  // namespace
}  // namespace spindled::sim
