// Independent flows, as the client sees them.
#include <gtest/gtest.h>

#include <future>

#include "libclient/protocol/client_engine.h"
#include "spindle/connection.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::Admitted;
using protocol::ClientEngine;
using protocol::ClientFrame;
using protocol::flow_bytes;
using protocol::kFlowToldBytes;
using protocol::kFlowWindowBytes;
using test::Bytes;
using test::FakeDaemon;
using test::Frame;

constexpr std::size_t kPayloadBytes = 1000;
/// Messages of that size that a window takes.
constexpr std::size_t kWindowMessages = (kFlowWindowBytes + flow_bytes(kPayloadBytes) - 1) / flow_bytes(kPayloadBytes);

Bytes admitted_frame(std::uint32_t handle, std::size_t bytes) {
  Bytes frame;
  protocol::write_admitted(frame, {handle, static_cast<std::uint32_t>(bytes)});
  return frame;
}

class ClientFlows : public testing::Test {
 protected:
  ClientFlows() { open(engine_, protocol::kIndependentFlowsBit); }

  static void open(ClientEngine& engine, std::uint8_t flags) {
    engine.start({.flags = flags, .name = "me"});
    Bytes bytes;
    protocol::write_welcome(bytes, {1, "#me#d"});
    engine.handle_bytes(bytes);
    engine.consume(engine.output().size());
  }
  std::error_code send(const Groups& groups, std::size_t bytes = kPayloadBytes) {
    return engine_.multicast(Service::fifo, groups, std::string(bytes, 'x'));
  }
  /// Sends until the flow takes no more.
  std::size_t fill(const Groups& groups, std::size_t bytes = kPayloadBytes) {
    std::size_t count = 0;
    while (count < 10'000 && !send(groups, bytes)) ++count;
    return count;
  }
  void admit(std::uint32_t handle, std::size_t bytes) { engine_.handle_bytes(admitted_frame(handle, bytes)); }
  /// The groups of the FlowReady events that have come; there are no others.
  std::vector<std::vector<std::string>> ready() {
    std::vector<std::vector<std::string>> groups;
    for (Event& event : engine_.take_events()) groups.push_back(event.get<FlowReady>().groups);
    return groups;
  }

  ClientEngine engine_;
};

TEST_F(ClientFlows, OneThatIsFullHoldsUpNoOther) {
  EXPECT_EQ(fill("a"), kWindowMessages);
  engine_.consume(engine_.output().size());
  EXPECT_EQ(send("a"), Errc::would_block);
  EXPECT_TRUE(engine_.output().empty()) << "what is refused is not sent";
  EXPECT_FALSE(send("b"));
  EXPECT_FALSE(send({"a", "b"})) << "another set of destinations is another flow";
  EXPECT_EQ(send("a"), Errc::would_block);
}

TEST_F(ClientFlows, ReadyComesOnceWhenHalfTheWindowIsFree) {
  ASSERT_EQ(fill("a"), kWindowMessages);
  EXPECT_EQ(send("a"), Errc::would_block);
  const std::size_t sent = kWindowMessages * flow_bytes(kPayloadBytes);
  admit(0, sent - kFlowWindowBytes / 2 - 1);
  EXPECT_TRUE(ready().empty()) << "a byte is missing";
  admit(0, 1);
  EXPECT_EQ(ready(), (std::vector<std::vector<std::string>>{{"a"}}));
  admit(0, 1000);
  EXPECT_TRUE(ready().empty()) << "nobody has asked again";
  ASSERT_GT(fill("a"), 0u);
  admit(0, kFlowWindowBytes / 2 + 2 * flow_bytes(kPayloadBytes));
  EXPECT_EQ(ready().size(), 1u);
}

TEST_F(ClientFlows, ReadyNamesTheDestinationsAsTheyWereGiven) {
  ASSERT_GT(fill({"a", "#x#y", "b"}), 0u);
  admit(0, kFlowWindowBytes);
  EXPECT_EQ(ready(), (std::vector<std::vector<std::string>>{{"a", "#x#y", "b"}}));
}

TEST_F(ClientFlows, NobodyIsToldWhoWasNotRefused) {
  for (std::size_t i = 0; i < kWindowMessages; ++i) ASSERT_FALSE(send("a"));
  admit(0, kFlowWindowBytes);
  EXPECT_TRUE(ready().empty());
}

TEST_F(ClientFlows, TheLastMessageMayExceedTheWindow) {
  EXPECT_FALSE(send("a", kFlowWindowBytes - protocol::kFlowMessageBytes - 1));
  EXPECT_FALSE(send("a", spindle::kMessageBytesMax));
  EXPECT_EQ(send("a", 0), Errc::would_block);
}

TEST_F(ClientFlows, EmptyMessagesCount) { EXPECT_EQ(fill("a", 0), kFlowWindowBytes / protocol::kFlowMessageBytes); }

TEST_F(ClientFlows, WithoutTheOptionThereAreNoWindows) {
  ClientEngine engine;
  open(engine, 0);
  for (std::size_t i = 0; i < 10 * kWindowMessages; ++i) {
    ASSERT_FALSE(engine.multicast(Service::fifo, "a", std::string(kPayloadBytes, 'x')));
  }
  engine.handle_bytes(admitted_frame(0, 100));
  const std::vector<Event> events = engine.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<Disconnected>().error, Errc::unexpected_frame);
}

TEST_F(ClientFlows, WhatWasNotSentCannotBeAdmitted) {
  ASSERT_GT(fill("a"), 0u);
  Bytes bytes = admitted_frame(0, kFlowWindowBytes);
  const Bytes wrong = admitted_frame(0, kFlowWindowBytes);
  bytes.insert(bytes.end(), wrong.begin(), wrong.end());
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().get<Disconnected>().error, Errc::unexpected_frame);
  for (const Event& event : events) EXPECT_TRUE(&event == &events.back() || event.is<FlowReady>());
}

TEST_F(ClientFlows, ANumberIsReusedRatherWhereNothingWaits) {
  std::vector<std::uint32_t> defined;
  const auto take_defines = [&] {
    spindle::ByteView bytes = engine_.output();
    while (const auto head = spindle::read_frame_head(bytes)) {
      const spindle::ByteView body = bytes.subspan(spindle::kFrameHeadBytes, head->length);
      if (static_cast<ClientFrame>(head->type) == ClientFrame::define) {
        defined.push_back(protocol::read_define(body)->handle);
      }
      bytes = bytes.subspan(spindle::kFrameHeadBytes + head->length);
    }
    engine_.consume(engine_.output().size());
  };
  // Of the first two, much is on its way.
  for (std::size_t i = 0; i < protocol::kHandlesMax; ++i) {
    ASSERT_FALSE(send("g" + std::to_string(i), i < 2 ? kFlowToldBytes : 0));
  }
  take_defines();
  ASSERT_EQ(defined.size(), protocol::kHandlesMax);
  ASSERT_FALSE(send("more"));
  ASSERT_FALSE(send("and more"));
  take_defines();
  EXPECT_EQ((std::vector<std::uint32_t>(defined.end() - 2, defined.end())), (std::vector<std::uint32_t>{2, 3}));
  // What the third was for does not free the window of what it is for now.
  ASSERT_GT(fill("more"), 0u);
  admit(2, kFlowWindowBytes);
  EXPECT_EQ(ready(), (std::vector<std::vector<std::string>>{{"more"}}));
}

TEST_F(ClientFlows, AReportComesAtItsPlaceAndNamesItsFlow) {
  EXPECT_FALSE(engine_.request_flow({"a", "b"}));
  EXPECT_FALSE(engine_.join("c"));
  Bytes bytes = test::message_frame("before");
  protocol::write_flow_report(bytes, {1, 3250, -20'000, 50'000, 87'500, 40, "link beta-gamma"});
  const Bytes after = test::message_frame("after");
  bytes.insert(bytes.end(), after.begin(), after.end());
  protocol::write_reply(bytes, {2, static_cast<std::uint16_t>(Errc::already_a_member)});
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].get<Message>().text(), "before");
  const FlowState& flow = events[1].get<FlowState>();
  EXPECT_EQ(flow.groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(flow.price, 3.25);
  EXPECT_DOUBLE_EQ(flow.budget, -20);
  EXPECT_EQ(flow.salary_period, 50ms);
  EXPECT_DOUBLE_EQ(flow.rate, 87.5);
  EXPECT_DOUBLE_EQ(flow.blocked_share, 0.04);
  EXPECT_EQ(flow.limited_by, "link beta-gamma");
  EXPECT_EQ(events[2].get<Message>().text(), "after");
  EXPECT_EQ(events[3].get<RequestFailed>().group, "c");
}

TEST_F(ClientFlows, AReportThatNobodyAskedForEndsTheConnection) {
  EXPECT_FALSE(engine_.join("a"));  // request 1 is no request for a report
  Bytes bytes;
  protocol::write_flow_report(bytes, {1, 1000, 0, 1, 0, 0, ""});
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<Disconnected>().error, Errc::unexpected_frame);
}

TEST_F(ClientFlows, BadRequestsForReportsAreRefused) {
  const std::vector<std::string_view> none;
  EXPECT_EQ(engine_.request_flow(none), Errc::too_many_groups);
  EXPECT_EQ(engine_.request_flow("#a"), Errc::bad_group_name);
  EXPECT_TRUE(engine_.output().empty());
  EXPECT_EQ(Connection().request_flow("a"), Errc::not_connected);
}

// With a socket and threads.

std::size_t fill(Connection& connection, const Groups& groups) {
  std::size_t count = 0;
  while (!connection.try_multicast(Service::fifo, groups, std::string(kPayloadBytes, 'x'))) ++count;
  return count;
}

TEST(ClientFlowsConnection, TheHelloSaysWhatIsWished) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.independent_flows = true, .slow_policy = SlowPolicy::drop});
  EXPECT_EQ(daemon.hello_flags,
            protocol::kIndependentFlowsBit | 2 << protocol::kSlowPolicyShift | protocol::kTellTakenBit);
  daemon.hang_up();
  FakeDaemon other;
  connection = other.connect();
  EXPECT_EQ(other.hello_flags, protocol::kTellTakenBit);
  other.hang_up();
}

TEST(ClientFlowsConnection, MulticastWaitsForItsOwnFlow) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.independent_flows = true});
  ASSERT_EQ(fill(connection, "a"), kWindowMessages);
  std::future<std::error_code> waiting =
      std::async(std::launch::async, [&] { return connection.multicast(Service::fifo, "a", "last"); });
  EXPECT_FALSE(connection.multicast(Service::fifo, "b", "goes on"));
  std::vector<std::string> payloads = daemon.read_messages(kWindowMessages + 1);
  EXPECT_EQ(payloads.back(), "goes on");
  ASSERT_TRUE(daemon.write(admitted_frame(0, flow_bytes(kPayloadBytes))));
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ(daemon.read_messages(1), std::vector<std::string>{"last"});
  EXPECT_FALSE(connection.receive(0ms)) << "half of the window is not free";
  ASSERT_TRUE(daemon.write(admitted_frame(0, kFlowWindowBytes / 2 + flow_bytes(kPayloadBytes))));
  const std::optional<Event> event = connection.receive();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->get<FlowReady>().groups, std::vector<std::string>{"a"});
  daemon.hang_up();
}

TEST(ClientFlowsConnection, WaitingForAFlowEndsWithTheConnection) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.independent_flows = true});
  ASSERT_EQ(fill(connection, "a"), kWindowMessages);
  std::future<std::error_code> waiting =
      std::async(std::launch::async, [&] { return connection.multicast(Service::fifo, "a", "never"); });
  daemon.hang_up();
  EXPECT_EQ(waiting.get(), Errc::not_connected);
}

TEST(ClientFlowsConnection, ReadyComesToOneThatFoundTheSendBufferFull) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_buffer_bytes = 256u << 10, .independent_flows = true});
  // Fresh flows until the daemon, which does not read, has filled the sockets and the buffer.
  const std::string payload(kFlowWindowBytes, 'x');
  std::string group;
  for (std::size_t i = 0; group.empty(); ++i) {
    const std::string next = "g" + std::to_string(i);
    const std::error_code error = connection.try_multicast(Service::fifo, next, payload);
    if (error) {
      ASSERT_EQ(error, Errc::would_block);
      group = next;
    }
  }
  std::thread reader([&] {
    while (daemon.read().type != ClientFrame::bye) {
    }
    daemon.hang_up();
  });
  const std::optional<Event> event = connection.receive();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->get<FlowReady>().groups, std::vector<std::string>{group});
  EXPECT_FALSE(connection.try_multicast(Service::fifo, group, payload));
  connection = Connection();
  reader.join();
}

TEST(ClientFlowsConnection, AHandlerIsToldWhatThreadsOfOthersHaveFreed) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.independent_flows = true});
  std::promise<std::vector<std::string>> told;
  connection.set_handler([&](Event&& event) {
    if (auto* flow = event.get_if<FlowReady>()) told.set_value(std::move(flow->groups));
  });
  ASSERT_EQ(fill(connection, "a"), kWindowMessages);
  ASSERT_TRUE(daemon.write(admitted_frame(0, kFlowWindowBytes)));
  EXPECT_EQ(told.get_future().get(), std::vector<std::string>{"a"});
  connection.set_handler({});
  daemon.hang_up();
}

}  // namespace
}  // namespace spindle
