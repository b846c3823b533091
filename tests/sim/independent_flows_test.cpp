// Clients whose flows do not wait for each other.
#include "tests/sim/scenario.h"
#include "tests/support/payload_frames.h"

namespace spindled::sim {
namespace {

namespace protocol = spindle::protocol;

class IndependentFlows : public Scenario {
 protected:
  static constexpr std::size_t kMessageBytes = 1000;

  IndependentFlows() {
    config.session.queue_soft_bytes = 128u << 10;
    config.session.queue_hard_bytes = 4u << 20;
    config.session.stall_timeout = 60s;
    // Room enough that nothing but the slow member holds anybody up.
    config.session.send_window_bytes = 4u << 20;
  }
  /// A line of three daemons. Nobody can send to the groups of `slow_`, at the last one, any more, which reads nothing.
  void start(std::uint64_t seed, const std::vector<std::string>& slow_groups) {
    simulate_cluster(seed, Shape::line, 3, config);
    slow_ = &sim().add_client(sim().host(2));
    for (const std::string& group : slow_groups) slow_->join(group);
    for (const std::string& group : slow_groups) await_group_view({slow_}, group);
    reader_ = &sim().add_client(sim().host(1));
    reader_->join("fast");
    await_group_view({reader_}, "fast");
    if (HasFatalFailure()) return;
    SimClient& flooder = sim().add_client(sim().host(0));
    slow_->set_read_rate(0);
    for (std::size_t i = 0; i < kFlood; ++i) {
      flooder.multicast({slow_groups[i % slow_groups.size()]}, {.size = kMessageBytes});
    }
    sim().run_for(2s);
  }
  SimClient& add_sender(bool independent) {
    SimClient& sender = sim().add_client(sim().host(0), "", {.independent_flows = independent});
    await([&] { return sender.is_welcome(); }, 1s, "the sender is welcome");
    return sender;
  }
  std::size_t fill(SimClient& sender, const std::string& group) {
    std::size_t count = 0;
    while (sender.try_multicast({group}, {.size = kMessageBytes})) ++count;
    return count;
  }
  static bool is_ready(const SimClient& sender, const std::string& group) {
    const auto is_it = [&](const spindle::FlowReady& flow) { return flow.groups == std::vector<std::string>{group}; };
    return std::any_of(sender.flows_ready().begin(), sender.flows_ready().end(), is_it);
  }
  /// Bytes that wait in the senders' daemon for the flows of one client.
  std::size_t held() { return sim().host(0).node().memory().session_held; }
  void expect_all(std::size_t slow_messages) {
    slow_->set_read_rate(std::nullopt);
    await([&] { return slow_->messages() == slow_messages; }, 30s, "the slow member has everything");
    await_rest();
    check();
  }

  static constexpr std::size_t kFlood = 2000;
  static constexpr std::size_t kWindowMessages =
      (protocol::kFlowWindowBytes + protocol::flow_bytes(kMessageBytes) - 1) / protocol::flow_bytes(kMessageBytes);

  NodeConfig config;
  SimClient* slow_ = nullptr;
  SimClient* reader_ = nullptr;
};

TEST_F(IndependentFlows, OneThatIsHeldUpHoldsUpNoOther) {
  start(91, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(true);
  EXPECT_EQ(fill(sender, "slow"), kWindowMessages);
  for (std::size_t i = 1; i <= 1000; ++i) {
    ASSERT_TRUE(sender.try_multicast({"fast"}, {.size = kMessageBytes}));
    await([&] { return reader_->messages() == i; }, 1s, "the other group goes on");
    if (HasFatalFailure()) return;
  }
  sim().run_for(2s);
  EXPECT_FALSE(is_ready(sender, "slow"));
  EXPECT_FALSE(sender.try_multicast({"slow"}, {.size = kMessageBytes})) << "the daemon still holds what was sent";
  EXPECT_GT(held(), protocol::kFlowWindowBytes / 2);
  slow_->set_read_rate(std::nullopt);
  await([&] { return is_ready(sender, "slow"); }, 10s, "the flow has room again");
  EXPECT_EQ(sender.flows_ready().size(), 1u);
  EXPECT_TRUE(sender.try_multicast({"slow"}, {.size = kMessageBytes}));
  expect_all(kFlood + kWindowMessages + 1);
  EXPECT_EQ(held(), 0u);
}

TEST_F(IndependentFlows, AreNotTheDefault) {
  start(93, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(false);
  // A new flow may send one.
  for (int i = 0; i < 2; ++i) sender.multicast({"slow"}, {.size = kMessageBytes});
  sender.multicast({"fast"});
  sim().run_for(2s);
  EXPECT_EQ(reader_->messages(), 0u) << "a message waits in front of it";
  EXPECT_EQ(held(), 0u);
  slow_->set_read_rate(std::nullopt);
  await([&] { return reader_->messages() == 1; }, 10s, "both have entered");
  expect_all(kFlood + 2);
}

TEST_F(IndependentFlows, TogetherHoldNoMoreThanTheLimit) {
  config.session.held_bytes_max = 3 * protocol::kFlowWindowBytes;
  const std::vector<std::string> groups = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
  start(93, groups);
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(true);
  for (const std::string& group : groups) EXPECT_EQ(fill(sender, group), kWindowMessages);
  sim().run_for(2s);
  EXPECT_GT(held(), config.session.held_bytes_max / 2);
  EXPECT_LE(held(), config.session.held_bytes_max + protocol::flow_bytes(kMessageBytes));
  ASSERT_TRUE(sender.try_multicast({"fast"}));
  sim().run_for(2s);
  EXPECT_EQ(reader_->messages(), 0u) << "the daemon reads no further";
  slow_->set_read_rate(std::nullopt);
  await([&] { return reader_->messages() == 1; }, 10s, "it reads on");
  expect_all(kFlood + groups.size() * kWindowMessages);
  for (const std::string& group : groups) EXPECT_TRUE(is_ready(sender, group)) << group;
}

TEST_F(IndependentFlows, GoodbyeLetsHeldMessagesEnterFirst) {
  start(94, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(true);
  const std::size_t sent = fill(sender, "slow");
  sender.bye();
  sim().run_for(2s);
  EXPECT_FALSE(sender.is_closed());
  expect_all(kFlood + sent);
  EXPECT_EQ(sender.close_code(), Errc::closed_by_client);
}

TEST_F(IndependentFlows, OfOneThatIsGoneAreGivenUp) {
  start(95, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(true);
  fill(sender, "slow");
  sim().run_for(100ms);
  sender.kill();
  sim().run_for(100ms);
  EXPECT_EQ(held(), 0u);
  expect_all(kFlood + 1);  // a new flow may send one
}

TEST_F(IndependentFlows, MembershipDoesNotWaitForThem) {
  start(96, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(true);
  const std::size_t sent = fill(sender, "slow");
  sender.join("fast");
  await_group_view({reader_, &sender}, "fast");
  sender.request_flow({"slow"});
  await([&] { return sender.flow_states().size() == 1; }, 1s, "the flow's state");
  EXPECT_EQ(sender.flow_states().front().groups, std::vector<std::string>{"slow"});
  EXPECT_NE(sender.flow_states().front().limited_by, "");
  expect_all(kFlood + sent);
}

// A client that keeps to no window, and one that gives a number another meaning while messages wait for the first.

std::vector<std::uint8_t> define(std::uint32_t handle, const std::string& group) {
  std::vector<std::uint8_t> bytes;
  protocol::write_define(bytes, {handle, {group}});
  return bytes;
}

std::vector<std::uint8_t> message(std::uint32_t handle, const std::string& payload) {
  std::vector<std::uint8_t> bytes;
  spindle::test::append_agreed_message(bytes, handle, spindle::as_bytes(payload));
  return bytes;
}

TEST_F(IndependentFlows, AClientThatIgnoresItsWindowIsClosed) {
  start(97, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& rude = add_sender(true);
  rude.send_raw(define(0, "slow"));
  for (std::size_t i = 0; i < kWindowMessages; ++i) rude.send_raw(message(0, std::string(kMessageBytes, 'x')));
  sim().run_for(1s);
  EXPECT_FALSE(rude.is_closed());
  for (int i = 0; i < 10; ++i) rude.send_raw(message(0, std::string(kMessageBytes, 'x')));
  await([&] { return rude.is_closed(); }, 1s, "it is closed");
  EXPECT_EQ(rude.close_code(), Errc::limit_exceeded);
  EXPECT_EQ(held(), 0u);
  SimClient& other = add_sender(true);
  EXPECT_TRUE(other.try_multicast({"fast"}));
  await([&] { return reader_->messages() == 1; }, 1s, "others are served");
}

TEST_F(IndependentFlows, AHandleKeepsItsMeaningWhileMessagesWait) {
  start(98, {"slow"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender(true);
  // Its library takes the first handle for this, and is not told that it has another meaning afterwards: it hangs up
  // when the message to the others has entered, of which it knows nothing.
  constexpr std::size_t kHeld = 10;
  for (std::size_t i = 0; i < kHeld; ++i) ASSERT_TRUE(sender.try_multicast({"slow"}, {.size = kMessageBytes}));
  sender.send_raw(define(0, "fast"));
  sender.send_raw(message(0, "for the fast"));
  sim().run_for(2s);
  EXPECT_EQ(reader_->messages(), 0u);
  slow_->set_read_rate(std::nullopt);
  await([&] { return slow_->messages() == kFlood + kHeld && reader_->messages() == 1; }, 10s, "each gets its own");
}

}  // namespace
}  // namespace spindled::sim
