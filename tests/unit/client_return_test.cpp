// Programs whose connection is lost, or whose daemon goes, beside a daemon that is played frame by frame.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <future>
#include <system_error>
#include <thread>

#include "tests/unit/client_fake_daemon.h"
#include "tests/unit/client_no_threads.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::ClientFrame;
using test::Bytes;
using test::close_frame;
using test::FakeDaemon;
using test::Frame;

class ClientReturn : public testing::Test {
 protected:
  ClientReturn() { daemon_.reconnect_timeout = ConnectOptions().reconnect_timeout; }

  /// The client comes again, as another one.
  protocol::Hello welcome_again(std::string_view name = "#me#fake") {
    daemon_.accept();
    return welcome(name);
  }
  protocol::Hello welcome(std::string_view name = "#me#fake") {
    hello_ = daemon_.read();
    Bytes bytes;
    protocol::write_welcome(bytes, {1, name});
    daemon_.write(bytes);
    return *protocol::read_hello(hello_.body);
  }
  void say_going() {
    Bytes bytes;
    protocol::write_going(bytes, 60'000);
    daemon_.write(bytes);
  }
  std::uint32_t read_confirm() {
    Frame frame = daemon_.read();
    while (frame.type == ClientFrame::define) frame = daemon_.read();
    EXPECT_EQ(frame.type, ClientFrame::confirm);
    return protocol::read_confirm(frame.body).value_or(0);
  }
  void confirm(std::uint32_t request, std::uint64_t taken) {
    Bytes bytes;
    protocol::write_confirmed(bytes, {request, taken});
    daemon_.write(bytes);
  }

  /// Two calls wait for one group as the connection is lost; the new session joins it, or is refused.
  void expect_end_of_joins(Errc refusal) {
    FakeDaemon first;
    first.reconnect_timeout = ConnectOptions().reconnect_timeout;
    Connection connection = first.connect({.more_addresses = {daemon_.path()}, .disconnect_timeout = 1ms});
    std::atomic<int> ended = 0;
    const auto is_it = [&](const Result<GroupView>& view) {
      EXPECT_EQ(view.error(), refusal == Errc{} ? std::error_code() : std::error_code(refusal));
      ++ended;
    };
    connection.join_then("news", 1h, is_it);
    connection.join_then("news", 1h, is_it);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(first.read().type, ClientFrame::join);
    first.write(close_frame(Errc::daemon_stopping, ""));
    first.hang_up();
    welcome_again();
    Bytes bytes;
    protocol::write_reply(bytes, {daemon_.read_request(), static_cast<std::uint16_t>(refusal)});
    protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
    view.joined = view.members = {"#me#fake"};
    if (refusal == Errc{}) protocol::write_view(bytes, view);
    daemon_.write(bytes);
    while (ended < 2) std::this_thread::yield();
  }

  /// Loses the daemon by `lose`, while the program has a handler, which hears of the end.
  template <typename Lose>
  void expect_end_at_handler(Errc reason, ConnectOptions options, Lose lose) {
    std::promise<std::error_code> end;  // outlives the connection
    Connection connection = daemon_.connect(options);
    connection.set_handler([&](Event event) {
      if (const auto* last = event.get_if<Disconnected>()) end.set_value(last->error);
    });
    lose();
    std::future<std::error_code> heard = end.get_future();
    ASSERT_EQ(heard.wait_for(20s), std::future_status::ready);
    EXPECT_EQ(heard.get(), reason);
  }

  FakeDaemon daemon_;
  Frame hello_;
};

TEST_F(ClientReturn, IsWhatProgramsDoThatSayNothing) {
  Connection connection = daemon_.connect();
  daemon_.hang_up();
  std::thread server([&] { EXPECT_TRUE(welcome_again("#other#fake").moves); });
  const auto event = connection.receive();
  server.join();
  ASSERT_TRUE(event && event->is<Reconnected>());
  EXPECT_FALSE(event->get<Reconnected>().resumed);
  EXPECT_EQ(connection.private_name(), "#other#fake");
  daemon_.write(close_frame(Errc::slow_receiver, "enough"));
  EXPECT_TRUE(connection.receive()->is<Disconnected>());
}

TEST_F(ClientReturn, ADaemonThatIsNotThereIsToldAtOnce) {
  EXPECT_EQ(Connection::connect({.address = daemon_.path() + "-not"}).error(), Errc::connect_failed);
}

// Nothing of a goodbye is told to the daemon that goes before what is held has gone out elsewhere.
TEST_F(ClientReturn, DisconnectsElsewhereWithWhatIsHeld) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  say_going();
  const std::uint32_t request = read_confirm();
  EXPECT_FALSE(connection.multicast(Service::agreed, "news", "held"));
  std::thread program([&] { EXPECT_EQ(connection.disconnect().messages, 0u); });
  while (connection.is_open()) std::this_thread::yield();
  confirm(request, 0);
  const Frame goodbye = daemon_.read();
  EXPECT_EQ(goodbye.type, ClientFrame::bye);
  EXPECT_FALSE(daemon_.has_hung_up);
  daemon_.write(close_frame(Errc::closed_by_client, "", 0));
  daemon_.hang_up();
  welcome_again();
  EXPECT_EQ(daemon_.read_messages(1).front(), "held");
  EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
  daemon_.write(close_frame(Errc::closed_by_client, "", 1));
  program.join();
}

// Nothing is read then that would have the thread look at what it has for the handler.
TEST_F(ClientReturn, TellsTheHandlerThatTheDaemonIsGoneForGood) {
  daemon_.reconnect_timeout = 1ms;
  expect_end_at_handler(Errc::connect_failed, {}, [this] { daemon_.go(); });
}
TEST_F(ClientReturn, TellsTheHandlerThatNobodyHasWelcomedItAgain) {
  daemon_.reconnect_timeout = 1ms;
  expect_end_at_handler(Errc::timed_out, {.connect_timeout = 2s}, [this] { daemon_.hang_up(); });
}
TEST_F(ClientReturn, TellsTheHandlerOfADaemonThatHasFallenSilent) {
  daemon_.reconnect_timeout = 0ms;
  expect_end_at_handler(Errc::silent_peer, {.keepalive = 10ms}, [] {});
}

// The longest times that programs can say, which cannot be counted in nanoseconds, and so cannot their sum with now.
TEST_F(ClientReturn, WaitsForEverWhereAProgramSaysSo) {
  for (const std::chrono::milliseconds ever :
       {std::chrono::milliseconds::max(),
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds::max())}) {
    SCOPED_TRACE(ever.count());
    daemon_.reconnect_timeout = ever;
    Connection connection = daemon_.connect({.connect_timeout = ever, .keepalive = ever, .disconnect_timeout = ever});
    ASSERT_TRUE(connection.is_open());
    daemon_.hang_up();
    std::thread server([&] {
      const protocol::Hello hello = welcome_again();
      EXPECT_EQ(hello.keepalive_ms, UINT32_MAX);
    });
    const auto event = connection.receive();
    server.join();
    ASSERT_TRUE(event && event->is<Reconnected>());
    std::thread program([&] { EXPECT_TRUE(connection.disconnect().exact); });
    EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
    daemon_.write(close_frame(Errc::closed_by_client, ""));
    program.join();
  }
}

TEST_F(ClientReturn, HasEachServerWelcomeItInItsShareOfTheTime) {
  FakeDaemon silent;
  ConnectOptions options;
  options.more_addresses = {daemon_.path()};
  options.connect_timeout = 10s;
  options.disconnect_timeout = 1ms;
  std::thread server([&] { welcome_again(); });
  options.address = silent.path();
  const Result<Connection> connection = Connection::connect(options);
  EXPECT_TRUE(connection) << connection.text();
  server.join();
}

// What the former daemon may have let in, or not, the new one can say nothing of.
TEST_F(ClientReturn, AConfirmationEndsWhereMessagesOfItBecomeUnknown) {
  for (const bool is_called_before : {true, false}) {
    SCOPED_TRACE(is_called_before);
    FakeDaemon first;
    first.reconnect_timeout = ConnectOptions().reconnect_timeout;
    Connection connection = first.connect({.more_addresses = {daemon_.path()}, .disconnect_timeout = 1ms});
    for (int i = 0; i < 10; ++i) ASSERT_FALSE(connection.multicast(Service::agreed, "news", "x"));
    first.read_messages(10);
    std::promise<NotTaken> told;
    if (is_called_before) connection.confirm_then(1h, [&](NotTaken lost) { told.set_value(lost); });
    first.write(close_frame(Errc::daemon_stopping, "", 4));
    first.hang_up();
    daemon_.accept();
    if (!is_called_before) connection.confirm_then(1h, [&](NotTaken lost) { told.set_value(lost); });
    ASSERT_FALSE(connection.multicast(Service::agreed, "news", "later"));
    welcome();
    EXPECT_EQ(daemon_.read_messages(1).front(), "later") << "and not a confirm before it";
    const NotTaken lost = told.get_future().get();
    EXPECT_EQ(lost.messages, 6u);
    EXPECT_FALSE(lost.exact);
  }
}

TEST_F(ClientReturn, CountsWhatIsUnknownUntilTheProgramHasBeenToldOfIt) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1ms});
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(connection.multicast(Service::agreed, "news", "x"));
  daemon_.read_messages(3);
  daemon_.hang_up();
  welcome_again();
  pollfd there{connection.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&there, 1, -1), 1);
  std::promise<NotTaken> before, behind;
  connection.confirm_then(1h, [&](NotTaken lost) { before.set_value(lost); });
  const std::uint32_t first = read_confirm();
  const auto again = connection.receive();
  ASSERT_TRUE(again && again->is<Reconnected>());
  EXPECT_EQ(again->get<Reconnected>().unknown.size(), 3u);
  connection.confirm_then(1h, [&](NotTaken lost) { behind.set_value(lost); });
  confirm(first, 0);
  confirm(read_confirm(), 0);
  const NotTaken of_before = before.get_future().get(), of_behind = behind.get_future().get();
  EXPECT_EQ(of_before.messages, 3u) << "it had not been told when it asked";
  EXPECT_FALSE(of_before.exact);
  EXPECT_EQ(of_behind.messages, 0u);
  EXPECT_TRUE(of_behind.exact);
  EXPECT_EQ(connection.disconnect().messages, 0u);
}

TEST_F(ClientReturn, GoingCountsWhatBecomesUnknownMeanwhile) {
  for (const bool drains : {false, true}) {
    SCOPED_TRACE(drains);
    Connection connection = daemon_.connect({.disconnect_timeout = 1h});
    EXPECT_FALSE(connection.multicast(Service::agreed, "news", "x"));
    daemon_.read_messages(1);
    EXPECT_FALSE(connection.join("news"));
    EXPECT_EQ(daemon_.read().type, ClientFrame::join);
    if (!drains) {
      daemon_.hang_up();
      daemon_.accept();
    }
    std::thread program([&] {
      const NotTaken lost = drains ? connection.drain(1h) : connection.disconnect();
      EXPECT_EQ(lost.messages, 1u);
      EXPECT_FALSE(lost.exact);
    });
    if (drains) {
      EXPECT_EQ(daemon_.read().type, ClientFrame::leave);
      daemon_.hang_up();
      daemon_.accept();
    } else {
      while (connection.is_open()) std::this_thread::yield();
    }
    welcome();
    for (Frame frame = daemon_.read(); frame.type != ClientFrame::bye;) frame = daemon_.read();
    EXPECT_FALSE(daemon_.has_hung_up);
    daemon_.write(close_frame(Errc::closed_by_client, ""));
    program.join();
    std::optional<Event> last = connection.receive();
    if (drains && last->is<Reconnected>()) last = connection.receive();
    EXPECT_EQ(last->get<Disconnected>().not_taken.messages, 1u);
  }
}

#ifdef __GLIBC__
TEST_F(ClientReturn, ThatCannotEvenTrySaysWhyAtTheEnd) {
  daemon_.reconnect_timeout = 1ms;
  Connection connection = daemon_.connect();
  const test::NoThreads none;
  daemon_.hang_up();
  EXPECT_EQ(connection.receive()->get<Disconnected>().error, Errc::connect_failed);
}
#endif

TEST_F(ClientReturn, IsNotFencedByAGroupThatItHadAskedToLeave) {
  FakeDaemon first;
  first.reconnect_timeout = ConnectOptions().reconnect_timeout;
  Connection connection = first.connect({.more_addresses = {daemon_.path()}, .disconnect_timeout = 1ms});
  ASSERT_FALSE(connection.join("news"));
  Bytes bytes;
  protocol::write_reply(bytes, {first.read_request(), 0});
  protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
  view.joined = view.members = {"#me#fake"};
  protocol::write_view(bytes, view);
  first.write(bytes);
  ASSERT_TRUE(connection.receive()->is<GroupView>());
  ASSERT_FALSE(connection.leave("news"));
  ASSERT_FALSE(connection.join("news"));
  for (const ClientFrame type : {ClientFrame::leave, ClientFrame::join}) EXPECT_EQ(first.read().type, type);
  first.write(close_frame(Errc::daemon_stopping, ""));
  first.hang_up();
  welcome_again("#me#other");
  const auto again = connection.receive();
  ASSERT_TRUE(again && again->is<Reconnected>());
  EXPECT_FALSE(again->get<Reconnected>().fenced);
}

// It is another request then, and the only one for the group.
TEST_F(ClientReturn, JoiningEndsWithTheViewInTheNewSession) { expect_end_of_joins(Errc{}); }
TEST_F(ClientReturn, JoiningEndsWithTheRefusalInTheNewSession) { expect_end_of_joins(Errc::access_denied); }

// A group that was left without a connection is not joined again, and there is no last view of it.
TEST_F(ClientReturn, DrainsInANewSession) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  EXPECT_FALSE(connection.join("news"));
  EXPECT_EQ(daemon_.read().type, ClientFrame::join);
  std::thread program([&] { EXPECT_EQ(connection.drain(1h).messages, 0u); });
  EXPECT_EQ(daemon_.read().type, ClientFrame::leave);
  daemon_.hang_up();
  welcome_again();
  EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
  daemon_.write(close_frame(Errc::closed_by_client, ""));
  program.join();
}

}  // namespace
}  // namespace spindle
