#include "spindle/future.h"

#include <gtest/gtest.h>

#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::FakeDaemon;

TEST(ClientFuture, OfAJoin) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1ms});
  std::future<Result<GroupView>> joined = join_future(connection, "news", 1h);
  Bytes bytes;
  protocol::write_reply(bytes, {daemon.read_request(), 0});
  protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
  view.joined = view.members = {"#me#fake"};
  protocol::write_view(bytes, view);
  daemon.write(bytes);
  EXPECT_EQ(joined.get().value().group, "news");
  EXPECT_EQ(join_future(connection, "#", 1h).get().error(), Errc::bad_group_name);
}

TEST(ClientFuture, OfAConfirmation) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1ms});
  ASSERT_FALSE(multicast_future(connection, Service::fifo, "g", "x").get());
  std::future<NotTaken> confirmed = confirm_future(connection, 1h);
  daemon.read_messages(1);
  Bytes bytes;
  protocol::write_confirmed(bytes, {protocol::read_confirm(daemon.read().body).value_or(0), 1});
  daemon.write(bytes);
  EXPECT_EQ(confirmed.get().messages, 0u);
}

TEST(ClientFuture, OfMessagesThatWaitForRoom) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1ms, .send_buffer_bytes = 10'000});
  const std::size_t sent = test::fill(connection);
  EXPECT_EQ(multicast_future(connection, Service::fifo, "g", "late", {.timeout = 1ms}).get(), Errc::timed_out);
  std::string payload = "pieces";
  std::future<std::error_code> waiting = multicast_future(connection, Service::fifo, {"g", "h"}, {"of ", payload},
                                                          {.timeout = std::chrono::nanoseconds::max()});
  payload = "changed";
  EXPECT_EQ(daemon.read_messages(sent + 1).back(), "of pieces");
  EXPECT_FALSE(waiting.get());
  daemon.hang_up();
  ASSERT_TRUE(connection.receive());
  EXPECT_EQ(multicast_future(connection, Service::fifo, "g", "x").get(), Errc::not_connected);
}

TEST(ClientFuture, OfAMessageIsBoundedByTheConnectionsSendTimeout) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_timeout = 1ms, .disconnect_timeout = 1ms, .send_buffer_bytes = 10'000});
  test::fill(connection);
  std::future<std::error_code> sent = multicast_future(connection, Service::fifo, "g", "x");
  ASSERT_EQ(sent.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(sent.get(), Errc::timed_out);
}

TEST(ClientFuture, OfAMessageToAGroupThatIsFlushed) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1ms});
  Bytes bytes;
  protocol::write_flush(bytes, protocol::ClientFrame::flush_request, {7, "news"});
  daemon.write(bytes);
  ASSERT_FALSE(connection.flush_ok(connection.receive().value().get<FlushRequest>()));
  EXPECT_EQ(daemon.read().type, protocol::ClientFrame::flush_ok);
  std::future<std::error_code> waiting = multicast_future(connection, Service::fifo, "news", "x");
  EXPECT_EQ(waiting.wait_for(1ms), std::future_status::timeout);
  protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
  view.joined = view.members = {"#me#fake"};
  bytes.clear();
  protocol::write_view(bytes, view);
  daemon.write(bytes);
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ(daemon.read_messages(1).front(), "x");
}

}  // namespace
}  // namespace spindle
