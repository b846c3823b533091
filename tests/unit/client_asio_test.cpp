#include "spindle/asio.h"

#include <gtest/gtest.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::FakeDaemon;
using test::message_frame;

class ClientAsio : public testing::Test {
 protected:
  AsioConnection connect(ConnectOptions options = {}) {
    options.disconnect_timeout = 1ms;  // nobody answers a goodbye
    return AsioConnection(context_.get_executor(), daemon_.connect(options));
  }
#ifdef ASIO_HAS_CO_AWAIT  // which Clang 14 has not
  /// Runs a coroutine to its end, beside `server`, which plays the daemon.
  template <typename Server>
  void run(asio::awaitable<void> client, Server&& server) {
    std::thread thread(std::forward<Server>(server));
    std::exception_ptr failure;
    asio::co_spawn(context_, std::move(client), [&](std::exception_ptr thrown) { failure = thrown; });
    context_.run();
    thread.join();
    EXPECT_TRUE(failure == nullptr);
  }
#endif

  FakeDaemon daemon_;
  asio::io_context context_;
};

#ifdef ASIO_HAS_CO_AWAIT
TEST_F(ClientAsio, ReceivesUpToTheEnd) {
  AsioConnection connection = connect();
  std::vector<std::string> texts;
  std::error_code end, behind;
  const auto receive_all = [&]() -> asio::awaitable<void> {
    for (;;) {
      Event event = co_await connection.async_receive(asio::use_awaitable);
      if (const auto* last = event.get_if<Disconnected>()) {
        end = last->error;
        break;
      }
      texts.emplace_back(event.get<Message>().text());
    }
    try {
      co_await connection.async_receive(asio::use_awaitable);
    } catch (const std::system_error& error) {
      behind = error.code();
    }
  };
  run(receive_all(), [&] {
    for (int i = 0; i < 100; ++i) daemon_.write(message_frame(std::to_string(i)));
    daemon_.write(test::close_frame(Errc::daemon_stopping, "enough"));
  });
  ASSERT_EQ(texts.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(texts[static_cast<std::size_t>(i)], std::to_string(i));
  EXPECT_EQ(end, Errc::daemon_stopping);
  EXPECT_EQ(behind, Errc::not_connected);
}

TEST_F(ClientAsio, JoinsSendsAndConfirms) {
  AsioConnection connection = connect();
  std::string group;
  std::error_code refused;
  NotTaken not_taken{1, false};
  const auto client = [&]() -> asio::awaitable<void> {
    group = (co_await connection.async_join("news", 1h, asio::use_awaitable)).group;
    try {
      co_await connection.async_join("closed", 1h, asio::use_awaitable);
    } catch (const std::system_error& error) {
      refused = error.code();
    }
    co_await connection.async_multicast(Service::agreed, "news", "hello", {}, asio::use_awaitable);
    not_taken = co_await connection.async_confirm(1h, asio::use_awaitable);
  };
  run(client(), [&] {
    const std::uint32_t join = daemon_.read_request();
    Bytes bytes;
    protocol::write_reply(bytes, {join, 0});
    protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
    view.joined = view.members = {"#me#fake"};
    protocol::write_view(bytes, view);
    daemon_.write(bytes);
    const std::uint32_t closed = daemon_.read_request();
    bytes.clear();
    protocol::write_reply(bytes, {closed, static_cast<std::uint16_t>(Errc::access_denied)});
    daemon_.write(bytes);
    EXPECT_EQ(daemon_.read_messages(1).at(0), "hello");
    bytes.clear();
    protocol::write_confirmed(bytes, {protocol::read_confirm(daemon_.read().body).value_or(0), 1});
    daemon_.write(bytes);
  });
  EXPECT_EQ(group, "news");
  EXPECT_EQ(refused, Errc::access_denied);
  EXPECT_EQ(not_taken.messages, 0u);
}

TEST_F(ClientAsio, SendingWaitsForRoomWithoutAThread) {
  AsioConnection connection = connect({.send_buffer_bytes = 10'000});
  constexpr std::size_t kMessages = 3000;
  const auto client = [&]() -> asio::awaitable<void> {
    for (std::size_t i = 0; i < kMessages; ++i) {
      std::string text = std::to_string(i) + std::string(1000, '.');
      co_await connection.async_multicast(Service::fifo, "g", std::move(text), {}, asio::use_awaitable);
    }
  };
  run(client(), [&] {
    const std::vector<std::string> payloads = daemon_.read_messages(kMessages);
    for (std::size_t i = 0; i < payloads.size(); ++i) EXPECT_EQ(std::stoul(payloads[i]), i);
  });
}

#endif

TEST_F(ClientAsio, ReceivingIsCancelledAndLosesNothing) {
  AsioConnection connection = connect();
  asio::cancellation_signal cancel;
  std::error_code cancelled;
  std::string text;
  connection.async_receive(asio::bind_cancellation_slot(cancel.slot(), [&](std::error_code error, Event) {
    cancelled = error;
    daemon_.write(message_frame("kept"));
    connection.async_receive([&](std::error_code, Event event) { text = event.get<Message>().text(); });
  }));
  asio::post(context_, [&] { asio::post(context_, [&] { cancel.emit(asio::cancellation_type::all); }); });
  context_.run();
  EXPECT_EQ(cancelled, asio::error::operation_aborted);
  EXPECT_EQ(text, "kept");
}

TEST_F(ClientAsio, TakesOtherTokens) {
  AsioConnection connection = connect();
  std::future<Event> event = connection.async_receive(asio::use_future);
  daemon_.write(message_frame("for the future"));
  context_.run();
  EXPECT_EQ(event.get().get<Message>().text(), "for the future");
}

TEST_F(ClientAsio, WhatIsUnderWayEndsWithTheConnection) {
  std::error_code received, sent, joined;
  {
    AsioConnection connection = connect({.send_buffer_bytes = 10'000});
    while (!connection.connection().multicast(Service::fifo, "g", std::string(1000, 'x'), {.timeout = 200ms})) continue;
    connection.async_receive([&](std::error_code error, Event) { received = error; });
    connection.async_multicast(Service::fifo, std::vector<std::string>{"g", "h"}, "x", {},
                               [&](std::error_code error) { sent = error; });
    connection.async_join("news", 1h, [&](std::error_code error, const GroupView&) { joined = error; });
    while (context_.poll_one() != 0) continue;
  }
  context_.restart();
  context_.run();
  EXPECT_TRUE(received);
  EXPECT_EQ(sent, Errc::not_connected);
  EXPECT_TRUE(joined);
}

TEST(ClientAsioClosed, IsNone) {
  asio::io_context context;
  EXPECT_THROW(AsioConnection(context.get_executor(), Connection()), std::system_error);
}

}  // namespace
}  // namespace spindle
