// Calls that wait for what the daemon does.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::ClientFrame;
using test::Bytes;
using test::close_frame;
using test::confirmed_frame;
using test::FakeDaemon;
using test::fill;
using test::Frame;
using test::message_frame;

/// With which `joined`, and this client, are in "news".
Bytes view_frame(std::string_view group, std::vector<std::string_view> joined) {
  Bytes frame;
  protocol::GroupViewFrame view{group, {1, "fake", 1, 1}};
  view.joined = std::move(joined);
  view.members = {"#me#fake", "#you#fake"};
  protocol::write_view(frame, view);
  return frame;
}

Bytes farewell_frame(std::string_view group) {
  Bytes frame;
  protocol::GroupViewFrame view{group, {1, "fake", 1, 2}, ViewCause::leave, ViewForm::farewell};
  view.left = {"#me#fake"};
  protocol::write_view(frame, view);
  return frame;
}

Bytes reply_frame(const Frame& request, Errc code = Errc{}) {
  Bytes frame;
  const auto read = protocol::read_group_request(request.type, request.body);
  EXPECT_TRUE(read);
  protocol::write_reply(frame, {read ? read->request : 0, static_cast<std::uint16_t>(code)});
  return frame;
}

/// A join of the group that was on its way.
Bytes refused_frame(std::string_view group) {
  Bytes frame;
  protocol::write_refused(frame,
                          {protocol::Refused::What::join, static_cast<std::uint16_t>(Errc::mode_mismatch), 0, group});
  return frame;
}

Bytes taken_frame(std::uint64_t messages) {
  Bytes frame;
  protocol::write_taken(frame, messages);
  return frame;
}

class ClientCalls : public testing::Test {
 protected:
  /// Nobody answers a goodbye.
  Connection connect(ConnectOptions options = {}) {
    options.disconnect_timeout = 1ms;
    return daemon_.connect(options);
  }

  FakeDaemon daemon_;
};

TEST_F(ClientCalls, JoiningEndsWithTheViewAndLeavesItAnEvent) {
  Connection connection = connect();
  std::thread server([&] {
    const Frame request = daemon_.read();
    EXPECT_EQ(request.type, ClientFrame::join);
    daemon_.write(reply_frame(request));
    daemon_.write(view_frame("other", {"#me#fake"}));
    daemon_.write(view_frame("news", {"#you#fake"}));
    daemon_.write(message_frame("before"));
    daemon_.write(view_frame("news", {"#me#fake"}));
  });
  const Result<GroupView> view = connection.join("news", 1h);
  server.join();
  ASSERT_TRUE(view) << view.text();
  EXPECT_EQ(view->group, "news");
  EXPECT_EQ(view->joined, std::vector<std::string>{"#me#fake"}) << "not a view of the time before";
  EXPECT_EQ(connection.receive()->get<GroupView>().group, "other");
  EXPECT_TRUE(connection.receive()->is<GroupView>());
  EXPECT_TRUE(connection.receive()->is<Message>());
  EXPECT_EQ(connection.receive()->get<GroupView>().joined, view->joined);
}

TEST_F(ClientCalls, JoiningEndsWithTheRefusalWhichIsNoEvent) {
  Connection connection = connect();
  std::thread server([&] {
    daemon_.write(reply_frame(daemon_.read(), Errc::access_denied));
    daemon_.write(message_frame("after"));
  });
  const Result<GroupView> view = connection.join("news", 1h);
  server.join();
  EXPECT_EQ(view.error(), Errc::access_denied);
  EXPECT_TRUE(connection.receive()->is<Message>());
}

TEST_F(ClientCalls, EachJoinHasItsOwnRefusal) {
  Connection connection = connect();
  ASSERT_FALSE(connection.join("news"));
  std::thread server([&] {
    const Frame first = daemon_.read(), second = daemon_.read();
    daemon_.write(reply_frame(first, Errc::too_many_memberships));
    daemon_.write(reply_frame(second));
    daemon_.write(view_frame("news", {"#me#fake"}));
  });
  EXPECT_TRUE(connection.join("news", 1h));
  server.join();
  EXPECT_EQ(connection.receive()->get<RequestFailed>().error, Errc::too_many_memberships) << "of the first";
}

// Where somebody else has joined at the same time, and otherwise, the daemon finds out only after its reply.
TEST_F(ClientCalls, JoiningEndsWithARefusalThatComesAfterTheReply) {
  Connection connection = connect();
  std::thread server([&] {
    daemon_.write(reply_frame(daemon_.read()));
    daemon_.write(refused_frame("other"));
    daemon_.write(refused_frame("news"));
    daemon_.write(message_frame("after"));
  });
  EXPECT_EQ(connection.join("news", 1h).error(), Errc::mode_mismatch);
  server.join();
  EXPECT_EQ(connection.receive()->get<RequestFailed>().group, "other") << "nobody waits for that";
  EXPECT_TRUE(connection.receive()->is<Message>());
}

TEST_F(ClientCalls, DrainingWaitsForNoGroupThatWasRefusedAfterTheReply) {
  Connection connection = connect();
  ASSERT_FALSE(connection.join("news"));
  daemon_.write(reply_frame(daemon_.read()));
  daemon_.write(refused_frame("news"));
  EXPECT_EQ(connection.receive()->get<RequestFailed>().error, Errc::mode_mismatch);
  std::thread server([&] {
    EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
    daemon_.write(close_frame(Errc::closed_by_client, "goodbye"));
  });
  EXPECT_TRUE(connection.drain(1h).exact);
  server.join();
}

TEST_F(ClientCalls, JoiningThatIsLateIsToldByEvents) {
  Connection connection = connect();
  EXPECT_EQ(connection.join("news", 1ms).error(), Errc::timed_out);
  daemon_.write(reply_frame(daemon_.read(), Errc::access_denied));
  EXPECT_EQ(connection.receive()->get<RequestFailed>().error, Errc::access_denied);
}

TEST_F(ClientCalls, JoiningEndsWithTheConnection) {
  Connection connection = connect();
  std::thread server([&] {
    daemon_.read();
    daemon_.write(close_frame(Errc::daemon_stopping, "enough"));
  });
  EXPECT_EQ(connection.join("news", 1h).error(), Errc::daemon_stopping);
  server.join();
  EXPECT_EQ(connection.join("news", 1h).error(), Errc::not_connected);
  EXPECT_EQ(connection.join("#no", 1h).error(), Errc::bad_group_name);
  EXPECT_EQ(Connection().join("news", 1h).error(), Errc::not_connected);
}

TEST_F(ClientCalls, JoiningCallsBack) {
  Connection connection = connect();
  std::promise<Result<GroupView>> joined, refused, late, wrong;
  connection.join_then("news", 1h, [&](Result<GroupView> view) { joined.set_value(std::move(view)); });
  connection.join_then("closed", 1h, [&](Result<GroupView> view) { refused.set_value(std::move(view)); });
  connection.join_then("late", 1ms, [&](Result<GroupView> view) { late.set_value(std::move(view)); });
  connection.join_then("#wrong", 1h, [&](Result<GroupView> view) { wrong.set_value(std::move(view)); });
  daemon_.write(reply_frame(daemon_.read()));
  daemon_.write(reply_frame(daemon_.read(), Errc::access_denied));
  daemon_.write(view_frame("news", {"#me#fake"}));
  EXPECT_EQ(joined.get_future().get().value().group, "news");
  EXPECT_EQ(refused.get_future().get().error(), Errc::access_denied);
  EXPECT_EQ(late.get_future().get().error(), Errc::timed_out);
  EXPECT_EQ(wrong.get_future().get().error(), Errc::bad_group_name);
}

TEST_F(ClientCalls, JoiningThatCallsBackWaitsForRoom) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection);
  std::promise<Result<GroupView>> joined;
  connection.join_then("news", 1h, [&](Result<GroupView> view) { joined.set_value(std::move(view)); });
  daemon_.read_messages(sent);
  daemon_.write(reply_frame(daemon_.read()));
  daemon_.write(view_frame("news", {"#me#fake"}));
  EXPECT_TRUE(joined.get_future().get());
}

// Such as one that waits for a lock that the caller holds.
TEST_F(ClientCalls, AHandlerThatDoesNotReturnHoldsUpNoCall) {
  Connection connection = connect();
  std::promise<void> released;
  connection.set_handler([go_on = released.get_future().share()](const Event&) { go_on.wait(); });
  std::thread server([&] {
    daemon_.write(reply_frame(daemon_.read()));
    daemon_.write(view_frame("news", {"#me#fake"}));
  });
  EXPECT_TRUE(connection.join("news", 1h)) << "the view is here";
  server.join();
  EXPECT_EQ(connection.join("late", 1ms).error(), Errc::timed_out);
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  EXPECT_EQ(connection.confirm(1ms).messages, 1u);
  EXPECT_EQ(connection.request("g", "x", 1ms).error, Errc::timed_out);
  std::stop_source source;
  std::jthread other([&] {
    std::this_thread::sleep_for(10ms);
    source.request_stop();
  });
  EXPECT_EQ(connection.request("g", "x", 1h, {}, source.get_token()).error, Errc::cancelled);
  EXPECT_EQ(connection.disconnect().messages, 3u);
  EXPECT_FALSE(connection.is_open());
  EXPECT_EQ(connection.drain(1ms).messages, 3u);
  released.set_value();
}

TEST_F(ClientCalls, AHandlerDoesNotWait) {
  Connection connection = connect();
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  std::promise<std::pair<std::error_code, NotTaken>> told;
  connection.set_handler([&](Event&& event) {
    if (!event.is<Message>()) return;
    const std::error_code error = connection.join("news", 1h).error();
    told.set_value({error, connection.confirm(1h)});
  });
  daemon_.write(message_frame("go"));
  const auto [error, not_taken] = told.get_future().get();
  EXPECT_EQ(error, Errc::would_block);
  EXPECT_EQ(not_taken.messages, 1u);
  EXPECT_FALSE(not_taken.exact);
}

TEST_F(ClientCalls, ConfirmEndsOnceTheDaemonHasTakenAll) {
  Connection connection = connect();
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  std::thread server([&] {
    daemon_.read_messages(3);
    daemon_.write(confirmed_frame(daemon_.read(), 3));
  });
  const NotTaken not_taken = connection.confirm(1h);
  server.join();
  EXPECT_EQ(not_taken.messages, 0u);
  EXPECT_TRUE(not_taken.exact);
}

TEST_F(ClientCalls, ConfirmSaysWhatIsNotTakenInTime) {
  Connection connection = connect();
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  daemon_.read_messages(10);
  daemon_.write(taken_frame(4));
  daemon_.write(message_frame("told"));
  ASSERT_TRUE(connection.receive());
  const NotTaken not_taken = connection.confirm(1ms);
  EXPECT_EQ(not_taken.messages, 6u);
  EXPECT_FALSE(not_taken.exact);
}

TEST_F(ClientCalls, ConfirmIsAboutWhatWasSentBefore) {
  Connection connection = connect();
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  std::promise<NotTaken> first, second;
  connection.confirm_then(1h, [&](NotTaken not_taken) { first.set_value(not_taken); });
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "y"));
  connection.confirm_then(1h, [&](NotTaken not_taken) { second.set_value(not_taken); });
  daemon_.read_messages(1);
  daemon_.write(confirmed_frame(daemon_.read(), 1));
  EXPECT_EQ(first.get_future().get().messages, 0u);
  daemon_.hang_up();
  const NotTaken lost = second.get_future().get();
  EXPECT_EQ(lost.messages, 1u);
  EXPECT_FALSE(lost.exact);
}

TEST_F(ClientCalls, ConfirmEndsExactlyWithTheDaemonsLastWord) {
  Connection connection = connect();
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  std::thread server([&] {
    daemon_.read_messages(10);
    daemon_.write(close_frame(Errc::daemon_stopping, "enough", 7));
  });
  const NotTaken not_taken = connection.confirm(1h);
  server.join();
  EXPECT_EQ(not_taken.messages, 3u);
  EXPECT_TRUE(not_taken.exact);
  EXPECT_EQ(connection.confirm(1h).messages, 3u);
}

TEST_F(ClientCalls, ADaemonThatConfirmsWhatWasNotSentIsRefused) {
  Connection connection = connect();
  Bytes frame;
  protocol::write_confirmed(frame, {77, 0});
  daemon_.write(frame);
  EXPECT_EQ(connection.receive()->get<Disconnected>().error, Errc::unexpected_frame);
}

TEST_F(ClientCalls, SendingWaitsNoLongerThanItMay) {
  Connection connection = connect({.send_timeout = 1ms, .send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection);
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x"), Errc::timed_out);
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x", {.timeout = 2ms}), Errc::timed_out);
  EXPECT_EQ(connection.join("news"), Errc::timed_out);
  EXPECT_EQ(connection.leave("news"), Errc::timed_out);
  EXPECT_EQ(connection.request_view("news"), Errc::timed_out);
  EXPECT_EQ(connection.request_flow("news"), Errc::timed_out);
  EXPECT_EQ(connection.join("news", 1ms).error(), Errc::timed_out);
  std::thread waiter([&] { EXPECT_FALSE(connection.multicast(Service::fifo, "g", "last", {.timeout = 1h})); });
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "last");
  waiter.join();
}

TEST_F(ClientCalls, ABufferOfNothingTakesAMessage) {
  Connection connection = connect({.send_buffer_bytes = 0});
  EXPECT_FALSE(connection.try_multicast(Service::fifo, "g", "x"));
  EXPECT_EQ(daemon_.read_messages(1).back(), "x");
  EXPECT_FALSE(connection.multicast(Service::fifo, "g", "y", {.timeout = 1h}));
  EXPECT_EQ(daemon_.read_messages(1).back(), "y");
}

TEST_F(ClientCalls, SendingToAFlowWaitsNoLongerThanItMay) {
  Connection connection = connect({.independent_flows = true});
  fill(connection);
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x", {.timeout = 1ms}), Errc::timed_out);
  EXPECT_FALSE(connection.multicast(Service::fifo, "other", "x", {.timeout = 1ms}));
}

TEST_F(ClientCalls, CallsBackWhenThereIsRoom) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  std::promise<std::error_code> at_once, late, room;
  connection.when_writable("g", 1h, [&](std::error_code error) { at_once.set_value(error); });
  EXPECT_FALSE(at_once.get_future().get());
  const std::size_t sent = fill(connection);
  connection.when_writable("g", 1ms, [&](std::error_code error) { late.set_value(error); });
  EXPECT_EQ(late.get_future().get(), Errc::timed_out);
  connection.when_writable("g", 1h, [&](std::error_code error) {
    room.set_value(error ? error : connection.try_multicast(Service::fifo, "g", "there was room"));
  });
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "there was room");
  EXPECT_FALSE(room.get_future().get());
}

TEST_F(ClientCalls, CallsBackWhenAGroupHasTheViewThatItWasFlushedFor) {
  Connection connection = connect();
  Bytes frame;
  protocol::write_flush(frame, ClientFrame::flush_request, {7, "news"});
  daemon_.write(frame);
  ASSERT_FALSE(connection.flush_ok(connection.receive().value().get<FlushRequest>()));
  EXPECT_EQ(daemon_.read().type, ClientFrame::flush_ok);
  EXPECT_EQ(connection.try_multicast(Service::fifo, "news", "x"), Errc::flushing);
  std::promise<std::error_code> other, late, room;
  connection.when_writable("other", 1h, [&](std::error_code error) { other.set_value(error); });
  EXPECT_FALSE(other.get_future().get());
  connection.when_writable("news", 1ms, [&](std::error_code error) { late.set_value(error); });
  EXPECT_EQ(late.get_future().get(), Errc::timed_out);
  connection.when_writable("news", 1h, [&](std::error_code error) {
    room.set_value(error ? error : connection.try_multicast(Service::fifo, "news", "in the view"));
  });
  daemon_.write(view_frame("news", {"#you#fake"}));
  EXPECT_FALSE(room.get_future().get());
  EXPECT_EQ(daemon_.read_messages(1).back(), "in the view");
}

TEST_F(ClientCalls, CallsBackWhenAFlowHasRoom) {
  Connection connection = connect({.independent_flows = true});
  const std::size_t sent = fill(connection);
  std::promise<std::error_code> room, never;
  connection.when_writable("g", 1h, [&](std::error_code error) { room.set_value(error); });
  daemon_.read_messages(sent);
  Bytes frame;
  protocol::write_admitted(frame, {0, static_cast<std::uint32_t>(protocol::flow_bytes(1000))});
  daemon_.write(frame);
  EXPECT_FALSE(room.get_future().get());
  fill(connection);
  connection.when_writable("g", 1h, [&](std::error_code error) { never.set_value(error); });
  daemon_.hang_up();
  EXPECT_EQ(never.get_future().get(), Errc::not_connected);
}

TEST_F(ClientCalls, ACallBackMayDropTheConnection) {
  auto connection = std::make_unique<Connection>(connect());
  std::promise<void> dropped;
  connection->confirm_then(1h, [&](NotTaken) {
    connection.reset();
    dropped.set_value();
  });
  daemon_.write(confirmed_frame(daemon_.read(), 0));
  dropped.get_future().wait();
}

TEST_F(ClientCalls, CallsThatAreOpenEndWithTheConnection) {
  std::atomic<int> ended = 0;
  {
    Connection connection = connect();
    connection.confirm_then(1h, [&](NotTaken) { ++ended; });
    connection.join_then("news", 1h, [&](Result<GroupView> view) {
      EXPECT_EQ(view.error(), Errc::closed_by_client);
      ++ended;
    });
  }
  EXPECT_EQ(ended, 2);
}

TEST_F(ClientCalls, DrainingLeavesAllAndLosesNothing) {
  Connection connection = connect();
  for (const char* group : {"a", "b", "refused"}) ASSERT_FALSE(connection.join(group));
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  std::thread server([&] {
    for (const char* group : {"a", "b"}) {
      daemon_.write(reply_frame(daemon_.read()));
      daemon_.write(view_frame(group, {"#me#fake"}));
    }
    daemon_.write(reply_frame(daemon_.read(), Errc::access_denied));
    daemon_.read_messages(1);
    for (const char* group : {"a", "b"}) {
      const Frame leave = daemon_.read();
      EXPECT_EQ(leave.type, ClientFrame::leave);
      daemon_.write(reply_frame(leave));
      daemon_.write(message_frame("before the end"));
      daemon_.write(farewell_frame(group));
    }
    EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
    daemon_.write(close_frame(Errc::closed_by_client, "goodbye", 1));
  });
  while (connection.receive()->kind() != EventKind::request_failed) continue;
  const NotTaken not_taken = connection.drain(1h);
  server.join();
  EXPECT_EQ(not_taken.messages, 0u);
  EXPECT_TRUE(not_taken.exact);
  EXPECT_FALSE(connection.is_open());
  std::vector<EventKind> kinds;
  while (auto event = connection.receive()) kinds.push_back(event->kind());
  EXPECT_EQ(kinds, (std::vector<EventKind>{EventKind::message, EventKind::group_view, EventKind::message,
                                           EventKind::group_view, EventKind::disconnected}));
}

TEST_F(ClientCalls, DrainingEndsInTime) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  ASSERT_FALSE(connection.join("news"));
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  const NotTaken not_taken = connection.drain(1ms);
  EXPECT_EQ(not_taken.messages, 1u);
  EXPECT_FALSE(not_taken.exact);
  EXPECT_EQ(Connection().drain(1h).messages, 0u);
}

TEST_F(ClientCalls, AHandlerThatWasTakenAwayIsNotRunning) {
  Connection connection = connect();
  std::promise<void> begun;
  std::atomic<bool> may_end = false;
  std::atomic<bool> has_ended = false;
  auto alive = std::make_shared<int>();
  const std::weak_ptr<int> handler_lives = alive;
  connection.set_handler([&, alive = std::move(alive)](Event&&) {
    begun.set_value();
    while (!may_end) std::this_thread::yield();
    std::this_thread::yield();
    has_ended = true;
  });
  daemon_.write(message_frame("1"));
  begun.get_future().wait();
  std::thread release([&] { may_end = true; });
  connection.set_handler({});
  EXPECT_TRUE(has_ended);
  EXPECT_TRUE(handler_lives.expired()) << "what it holds may go";
  daemon_.write(message_frame("2"));
  EXPECT_EQ(connection.receive()->get<Message>().text(), "2");
  release.join();
}

TEST_F(ClientCalls, AHandlerThatWasReplacedIsNotRunning) {
  Connection connection = connect();
  std::promise<void> begun, next;
  std::atomic<bool> may_end = false;
  std::atomic<bool> has_ended = false;
  connection.set_handler([&](Event&&) {
    begun.set_value();
    while (!may_end) std::this_thread::yield();
    has_ended = true;
  });
  daemon_.write(message_frame("1"));
  begun.get_future().wait();
  std::thread release([&] { may_end = true; });
  connection.set_handler([&](Event&& event) {
    if (event.is<Message>()) next.set_value();
  });
  EXPECT_TRUE(has_ended);
  daemon_.write(message_frame("2"));
  next.get_future().wait();
  release.join();
  connection.set_handler({});
}

}  // namespace
}  // namespace spindle
