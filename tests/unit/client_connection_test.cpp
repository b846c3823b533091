#include "spindle/connection.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tests/unit/client_fake_daemon.h"
#include "tests/unit/client_no_threads.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::close_frame;
using test::FakeDaemon;
using test::Frame;
using test::message_frame;

std::string numbered(std::size_t number, std::size_t size) {
  std::string text = std::to_string(number) + ":";
  text.resize(std::max(size, text.size()), static_cast<char>('a' + number % 26));
  return text;
}

const Disconnected& expect_end(const std::optional<Event>& event) {
  static const Disconnected none;
  EXPECT_TRUE(event && event->is<Disconnected>());
  return event && event->is<Disconnected>() ? event->get<Disconnected>() : none;
}

// Fills the client's buffer and the sockets' while nobody reads. Returns how many messages were taken.
std::size_t fill(Connection& connection, std::size_t message_bytes) {
  std::size_t count = 0;
  while (true) {
    const std::error_code error = connection.try_multicast(Service::fifo, "g", numbered(count, message_bytes));
    if (error) {
      EXPECT_EQ(error, Errc::would_block);
      return count;
    }
    ++count;
  }
}

TEST(ClientConnection, IsWelcomed) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.name = "me"});
  EXPECT_EQ(daemon.hello_name, "me");
  EXPECT_EQ(connection.private_name(), "#me#fake");
  EXPECT_TRUE(connection.is_open());
  Connection moved = std::move(connection);
  EXPECT_EQ(moved.private_name(), "#me#fake");
  EXPECT_FALSE(connection.is_open());  // NOLINT: a connection moved from is a closed one
  daemon.hang_up();
}

TEST(ClientConnection, IsRefusedWithTheDaemonsReason) {
  FakeDaemon daemon;
  std::error_code error;
  std::string text;
  const Connection connection = daemon.connect(
      {.name = "me"}, error, &text, [](Bytes& bytes) { bytes = close_frame(Errc::name_in_use, "me is taken"); });
  EXPECT_EQ(error, Errc::name_in_use);
  EXPECT_EQ(text, "me is taken");
  EXPECT_FALSE(connection.is_open());
}

#ifdef __GLIBC__
TEST(ClientConnection, CannotBeWithoutAThread) {
  FakeDaemon daemon;
  std::thread server([&] {
    daemon.accept();
    EXPECT_EQ(daemon.read().type, protocol::ClientFrame::hello);
    Bytes welcome;
    protocol::write_welcome(welcome, {1, "#me#fake"});
    daemon.write(welcome);
    EXPECT_EQ(daemon.read().type, protocol::ClientFrame::bye);
    EXPECT_TRUE(daemon.has_hung_up);
  });
  {
    const test::NoThreads none;
    const Result<Connection> connection = Connection::connect({.address = daemon.path()});
    EXPECT_EQ(connection.error(), Errc::connect_failed);
    EXPECT_NE(connection.text().find("thread"), std::string::npos) << connection.text();
  }
  server.join();
}
#endif

TEST(ClientConnection, IsLostBeforeTheWelcome) {
  FakeDaemon daemon;
  std::error_code error;
  daemon.connect({}, error, nullptr, [&](Bytes&) { daemon.hang_up(); });
  EXPECT_EQ(error, Errc::connection_lost);
}

TEST(ClientConnection, CannotBeMade) {
  FakeDaemon daemon;
  const Result<Connection> no_daemon = Connection::connect({.address = daemon.path() + "-not"});
  EXPECT_EQ(no_daemon.error(), Errc::connect_failed);
  EXPECT_NE(no_daemon.text().find(daemon.path()), std::string::npos) << no_daemon.text();
  EXPECT_EQ(Connection::connect({.address = "host:port"}).error(), Errc::bad_address);
  EXPECT_EQ(Connection::connect({.address = daemon.path(), .name = "a b"}).error(), Errc::bad_client_name);
  const Result<Connection> no_welcome = Connection::connect({.address = daemon.path(), .connect_timeout = 1ms});
  EXPECT_EQ(no_welcome.error(), Errc::timed_out) << "nobody says welcome";
}

TEST(ClientConnection, AClosedConnectionSaysSo) {
  Connection connection;
  std::error_code error;
  EXPECT_EQ(connection.join("g"), Errc::not_connected);
  EXPECT_EQ(connection.leave("g"), Errc::not_connected);
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x"), Errc::not_connected);
  EXPECT_FALSE(connection.receive());
  EXPECT_FALSE(connection.receive(1h, error));
  EXPECT_EQ(error, Errc::not_connected);
  EXPECT_EQ(connection.descriptor(), -1);
  connection.disconnect();
}

TEST(ClientConnection, RequestsReachTheDaemonInOrder) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  EXPECT_FALSE(connection.join("news"));
  EXPECT_FALSE(connection.multicast(Service::agreed, {"news", "#you#there"}, "text", {.type = 5}));
  EXPECT_FALSE(connection.leave("news"));
  EXPECT_EQ(connection.join("#bad"), Errc::bad_group_name);
  EXPECT_EQ(connection.multicast(Service::agreed, "", "x"), Errc::bad_group_name);
  const Frame join = daemon.read();
  EXPECT_EQ(join.type, protocol::ClientFrame::join);
  EXPECT_EQ(protocol::read_group_request(join.type, join.body)->group, "news");
  const Frame define = daemon.read();
  EXPECT_EQ(protocol::read_define(define.body)->groups, (std::vector<std::string_view>{"news", "#you#there"}));
  const Frame send = daemon.read();
  EXPECT_EQ(protocol::read_send(send.body)->type, 5);
  EXPECT_EQ(daemon.read().type, protocol::ClientFrame::leave);
  daemon.hang_up();
}

TEST(ClientConnection, MessagesGatherWhileTheDaemonIsBusyAndAllArrive) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  constexpr std::size_t kMessages = 50'000;
  std::thread sender([&] {
    for (std::size_t i = 0; i < kMessages; ++i) {
      ASSERT_FALSE(connection.multicast(Service::fifo, "g", numbered(i, 100)));
    }
  });
  const std::vector<std::string> payloads = daemon.read_messages(kMessages);
  sender.join();
  for (std::size_t i = 0; i < kMessages; ++i) ASSERT_EQ(payloads.at(i), numbered(i, 100));
  daemon.hang_up();
}

TEST(ClientConnection, NothingGatheredIsLeftBehind) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  for (std::size_t round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(connection.multicast(Service::fifo, "g", numbered(i, 10)));
    const std::vector<std::string> payloads = daemon.read_messages(4);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(payloads.at(i), numbered(i, 10));
  }
  daemon.hang_up();
}

TEST(ClientConnection, SaysWouldBlockWhileTheDaemonDoesNotRead) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_buffer_bytes = 100'000});
  const std::size_t taken = fill(connection, 1000);
  EXPECT_GE(taken, 100u);
  EXPECT_EQ(connection.try_multicast(Service::fifo, "", "x"), Errc::bad_group_name) << "wrong however full";
  EXPECT_EQ(connection.multicast(Service::fifo, "g", std::string((16u << 20) + 1, 'x')), Errc::message_too_large);
  std::thread waiter([&] { EXPECT_FALSE(connection.multicast(Service::fifo, "g", numbered(taken, 1000))); });
  const std::vector<std::string> payloads = daemon.read_messages(taken + 1);
  waiter.join();
  for (std::size_t i = 0; i <= taken; ++i) ASSERT_EQ(payloads.at(i), numbered(i, 1000));
  EXPECT_FALSE(connection.try_multicast(Service::fifo, "g", "again"));
  EXPECT_EQ(daemon.read_messages(1).at(0), "again");
  daemon.hang_up();
}

TEST(ClientConnection, AWaitingSenderHearsOfTheEnd) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_buffer_bytes = 10'000});
  fill(connection, 1000);
  std::promise<void> started;
  std::thread waiter([&] {
    started.set_value();
    while (true) {
      const std::error_code error = connection.multicast(Service::fifo, "g", std::string(1000, 'x'));
      if (!error) continue;
      EXPECT_EQ(error, Errc::not_connected);
      break;
    }
  });
  started.get_future().wait();
  daemon.hang_up();
  waiter.join();
}

TEST(ClientConnection, ThreadsDoNotMixTheirMessages) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  constexpr std::size_t kThreads = 3;
  constexpr std::size_t kMessages = 3000;
  std::vector<std::thread> senders;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    senders.emplace_back([&connection, thread] {
      for (std::size_t i = 0; i < kMessages; ++i) {
        const std::size_t size = i % 500 == 0 ? 100'000 : 50;  // some in several chunks
        const std::string group = "group " + std::to_string(i % 7);
        ASSERT_FALSE(connection.multicast(Service::fifo, group, numbered(i * kThreads + thread, size)));
      }
    });
  }
  const std::vector<std::string> payloads = daemon.read_messages(kThreads * kMessages);
  for (std::thread& sender : senders) sender.join();
  std::size_t next[kThreads] = {};
  for (const std::string& payload : payloads) {
    const std::size_t number = std::stoul(payload);
    const std::size_t thread = number % kThreads;
    const std::size_t i = next[thread]++;
    ASSERT_EQ(number / kThreads, i) << "a thread's messages stay in order";
    ASSERT_EQ(payload, numbered(number, i % 500 == 0 ? 100'000 : 50));
  }
  daemon.hang_up();
}

TEST(ClientConnection, ReceivesWhatTheDaemonSends) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  std::error_code error;
  EXPECT_FALSE(connection.receive(0ms, error));
  EXPECT_EQ(error, Errc::timed_out);
  daemon.write(message_frame("one"));
  EXPECT_EQ(connection.receive()->get<Message>().text(), "one");
  daemon.write(message_frame("two"));
  EXPECT_EQ(connection.receive(1h, error)->get<Message>().text(), "two");
  EXPECT_FALSE(error);
  daemon.write(message_frame("three"));
  EXPECT_EQ(connection.receive(std::chrono::nanoseconds::max())->get<Message>().text(), "three");
  daemon.write(close_frame(Errc::slow_receiver, "you are too slow"));
  const std::optional<Event> last = connection.receive();
  EXPECT_EQ(expect_end(last).error, Errc::slow_receiver);
  EXPECT_EQ(expect_end(last).text, "you are too slow");
  EXPECT_FALSE(connection.receive());
  EXPECT_FALSE(connection.receive(1h, error));
  EXPECT_EQ(error, Errc::not_connected);
  EXPECT_FALSE(connection.is_open());
  EXPECT_EQ(connection.join("g"), Errc::not_connected);
}

TEST(ClientConnection, ARefusedJoinIsAnEvent) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  EXPECT_FALSE(connection.join("g"));
  Bytes bytes;
  protocol::write_reply(bytes, {protocol::read_group_request(protocol::ClientFrame::join, daemon.read().body)->request,
                                static_cast<std::uint16_t>(Errc::too_many_memberships)});
  daemon.write(bytes);
  const std::optional<Event> event = connection.receive();
  ASSERT_TRUE(event->is<RequestFailed>());
  EXPECT_EQ(event->get<RequestFailed>().group, "g");
  EXPECT_EQ(event->get<RequestFailed>().error, Errc::too_many_memberships);
  daemon.hang_up();
}

TEST(ClientConnection, ALostConnectionIsToldApartFromAClosedOne) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  daemon.write(message_frame("last"));
  daemon.hang_up();
  EXPECT_EQ(connection.receive()->get<Message>().text(), "last");
  EXPECT_EQ(expect_end(connection.receive()).error, Errc::connection_lost);
}

TEST(ClientConnection, GarbageEndsTheConnection) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  daemon.write({1, 0, 0, 18, 99});
  EXPECT_EQ(expect_end(connection.receive()).error, Errc::malformed_frame);
  EXPECT_EQ(daemon.read().body.size(), 0u) << "the client hung up";
}

// The client must not swallow more than its receive buffer and what a read and the sockets hold.
TEST(ClientConnection, DoesNotReadFarAheadOfItsReceiver) {
  FakeDaemon daemon;
  constexpr std::size_t kBuffer = 1u << 20;
  constexpr std::size_t kMessages = 8000;
  constexpr std::size_t kBytes = 4096;
  constexpr std::size_t kSlack = 2u << 20;
  Connection connection = daemon.connect({.receive_buffer_bytes = kBuffer});
  std::atomic<std::size_t> written = 0;
  std::thread writer([&] {
    for (std::size_t i = 0; i < kMessages; ++i) {
      ASSERT_TRUE(daemon.write(message_frame(numbered(i, kBytes))));
      written += kBytes;
      written.notify_one();
    }
  });
  for (std::size_t seen = 0; seen < kBuffer; seen = written) written.wait(seen);
  std::size_t furthest = 0;
  for (std::size_t i = 0; i < kMessages; ++i) {
    const std::optional<Event> event = connection.receive();
    EXPECT_EQ(event->get<Message>().text(), numbered(i, kBytes));
    furthest = std::max<std::size_t>(furthest, written - i * kBytes);
  }
  writer.join();
  EXPECT_LE(furthest, kBuffer + kSlack);
  daemon.hang_up();
}

TEST(ClientConnection, TheDescriptorWakesAnEventLoop) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  pollfd waiting{connection.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  for (int round = 0; round < 3; ++round) {
    daemon.write(message_frame("x"));
    ASSERT_EQ(::poll(&waiting, 1, -1), 1);
    EXPECT_TRUE(connection.receive(0ms));
    EXPECT_FALSE(connection.receive(0ms));
    EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  }
  daemon.hang_up();
  ASSERT_EQ(::poll(&waiting, 1, -1), 1);
  expect_end(connection.receive(0ms));
}

TEST(ClientConnection, AHandlerGetsEveryEvent) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  daemon.write(message_frame("0"));
  std::vector<std::string> texts;
  std::promise<std::error_code> end;
  connection.set_handler([&](Event&& event) {
    if (const auto* message = event.get_if<Message>()) {
      texts.emplace_back(message->text());
      EXPECT_FALSE(connection.multicast(Service::fifo, "echo", message->text()));
    } else {
      end.set_value(event.get<Disconnected>().error);
    }
  });
  EXPECT_EQ(daemon.read_messages(1).at(0), "0");
  for (int i = 1; i < 100; ++i) daemon.write(message_frame(std::to_string(i)));
  const std::vector<std::string> echoed = daemon.read_messages(99);
  daemon.write(close_frame(Errc::daemon_stopping, "enough"));
  EXPECT_EQ(end.get_future().get(), Errc::daemon_stopping);
  ASSERT_EQ(texts.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(texts[i], std::to_string(i));
  for (std::size_t i = 0; i < 99; ++i) EXPECT_EQ(echoed.at(i), std::to_string(i + 1));
}

TEST(ClientConnection, AHandlerIsNotMadeToWait) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_buffer_bytes = 10'000});
  std::promise<std::error_code> refused;
  connection.set_handler([&](Event&& event) {
    if (!event.is<Message>()) return;
    std::error_code error;
    while (!error) error = connection.multicast(Service::fifo, "g", std::string(1000, 'x'));
    refused.set_value(error);
  });
  daemon.write(message_frame("go"));
  EXPECT_EQ(refused.get_future().get(), Errc::would_block);
  daemon.hang_up();
}

TEST(ClientConnection, AHandlerMayDropTheConnection) {
  FakeDaemon daemon;
  auto connection = std::make_unique<Connection>(daemon.connect());
  connection->set_handler([&](Event&&) { connection.reset(); });
  daemon.write(message_frame("go"));
  EXPECT_EQ(daemon.read().type, protocol::ClientFrame::bye);
  daemon.hang_up();
}

TEST(ClientConnection, AHandlerMayTakeEventsItself) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  for (const char* text : {"0", "1", "2"}) daemon.write(message_frame(text));
  std::vector<std::string> texts;
  std::promise<void> done;
  connection.set_handler([&](Event&& event) {
    for (std::optional<Event> each = std::move(event); each; each = connection.receive(0ms)) {
      texts.emplace_back(each->get<Message>().text());
    }
    if (texts.size() == 3) done.set_value();
  });
  done.get_future().wait();
  EXPECT_EQ(texts, (std::vector<std::string>{"0", "1", "2"}));
  connection.set_handler({});
  daemon.hang_up();
}

TEST(ClientConnection, AHandlerThatGivesItsPlaceToAnotherGetsNoFurtherEvent) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  for (int i = 0; i < 10; ++i) daemon.write(message_frame(std::to_string(i)));
  std::vector<std::string> first;
  std::vector<std::string> second;
  std::promise<void> done;
  connection.set_handler([&](Event&& event) {
    first.emplace_back(event.get<Message>().text());
    connection.set_handler([&](Event&& next) {
      second.emplace_back(next.get<Message>().text());
      if (second.size() == 2) {
        connection.set_handler({});
        done.set_value();
      }
    });
  });
  done.get_future().wait();
  for (int i = 3; i < 10; ++i) {
    const std::optional<Event> event = connection.receive();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->get<Message>().text(), std::to_string(i)) << "nobody else took it";
  }
  EXPECT_EQ(first, std::vector<std::string>{"0"});
  EXPECT_EQ(second, (std::vector<std::string>{"1", "2"}));
  daemon.hang_up();
}

TEST(ClientConnection, DisconnectingWritesWhatWasSentAndHearsTheDaemonOut) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1h});
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", numbered(i, 100)));
  std::thread server([&] {
    daemon.read_messages(1000);
    EXPECT_EQ(daemon.read().type, protocol::ClientFrame::bye);
    EXPECT_TRUE(daemon.write(message_frame("too late")));
    EXPECT_TRUE(daemon.write(close_frame(Errc::closed_by_client, "goodbye")));
  });
  connection.disconnect();
  server.join();
  EXPECT_FALSE(connection.is_open());
  const std::optional<Event> last = connection.receive();
  EXPECT_EQ(expect_end(last).error, Errc::closed_by_client);
  EXPECT_EQ(expect_end(last).text, "goodbye");
  EXPECT_FALSE(connection.receive());
  connection.disconnect();
}

TEST(ClientConnection, DisconnectingSaysHowManyMessagesWereNotTaken) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1h});
  EXPECT_NE(daemon.hello_flags & protocol::kTellTakenBit, 0);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", numbered(i, 100)));
  std::thread server([&] {
    daemon.read_messages(100);
    EXPECT_EQ(daemon.read().type, protocol::ClientFrame::bye);
    EXPECT_TRUE(daemon.write(close_frame(Errc::daemon_stopping, "going down", 97)));
  });
  const NotTaken not_taken = connection.disconnect();
  server.join();
  EXPECT_EQ(not_taken.messages, 3u);
  EXPECT_TRUE(not_taken.exact);
  const std::optional<Event> last = connection.receive();
  EXPECT_EQ(expect_end(last).not_taken.messages, 3u);
  EXPECT_TRUE(expect_end(last).not_taken.exact);
  EXPECT_EQ(connection.disconnect().messages, 3u) << "said as often as asked";
}

// The daemon does not answer in time: what it has told before counts.
TEST(ClientConnection, WithoutTheDaemonsLastWordTheNumberIsABound) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1ms});
  for (std::size_t i = 0; i < 100; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", numbered(i, 100)));
  daemon.read_messages(100);
  test::Bytes frames;
  protocol::write_taken(frames, 60);
  const test::Bytes message = message_frame("after that");
  frames.insert(frames.end(), message.begin(), message.end());
  EXPECT_TRUE(daemon.write(frames));
  const std::optional<Event> event = connection.receive();
  EXPECT_TRUE(event && event->is<Message>());
  const NotTaken not_taken = connection.disconnect();
  EXPECT_EQ(not_taken.messages, 40u);
  EXPECT_FALSE(not_taken.exact);
  const std::optional<Event> last = connection.receive();
  EXPECT_EQ(expect_end(last).error, Errc::closed_by_client);
  EXPECT_EQ(expect_end(last).not_taken.messages, 40u);
  EXPECT_FALSE(expect_end(last).not_taken.exact);
}

TEST(ClientConnection, ALostConnectionSaysHowManyMessagesMayBeLost) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  for (std::size_t i = 0; i < 10; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", numbered(i, 100)));
  EXPECT_NE(connection.multicast(Service::fifo, "", "refused"), std::error_code());
  daemon.read_messages(10);
  daemon.hang_up();
  const std::optional<Event> last = connection.receive();
  EXPECT_EQ(expect_end(last).error, Errc::connection_lost);
  EXPECT_EQ(expect_end(last).not_taken.messages, 10u);
  EXPECT_FALSE(expect_end(last).not_taken.exact);
}

TEST(ClientConnection, OneThatSentNothingKnowsThatNothingIsLost) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  daemon.hang_up();
  const std::optional<Event> last = connection.receive();
  EXPECT_EQ(expect_end(last).not_taken.messages, 0u);
  EXPECT_TRUE(expect_end(last).not_taken.exact);
}

TEST(ClientConnection, ADaemonThatTookWhatWasNotSentIsNotBelieved) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "one"));
  test::Bytes taken;
  protocol::write_taken(taken, 2);
  EXPECT_TRUE(daemon.write(taken));
  EXPECT_EQ(expect_end(connection.receive()).error, Errc::unexpected_frame);
}

TEST(ClientConnection, TheDestructorDoesNotHangOnADaemonThatDoesNotRead) {
  FakeDaemon daemon;
  {
    Connection connection = daemon.connect({.disconnect_timeout = 1ms, .send_buffer_bytes = 10'000});
    fill(connection, 1000);
  }
  {
    FakeDaemon other;
    Connection connection = other.connect({.disconnect_timeout = 1ms, .receive_buffer_bytes = 1});
    other.write(message_frame("never received"));
  }
}

}  // namespace
}  // namespace spindle
