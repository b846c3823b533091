#include "spindle/asio.h"

#include <gtest/gtest.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <filesystem>
#include <set>

#include "tests/unit/client_fake_daemon.h"
#ifdef ASIO_HAS_CO_AWAIT
#include <asio/experimental/awaitable_operators.hpp>
#endif

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::FakeDaemon;
using test::fill;
using test::Frame;
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

  void run_what_is_ready() {
    while (context_.poll_one() != 0) continue;
    context_.restart();
  }

  FakeDaemon daemon_;
  asio::io_context context_;
  asio::cancellation_signal cancel_;
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

TEST_F(ClientAsio, OperatorsOfAwaitablesCancel) {
  using namespace asio::experimental::awaitable_operators;
  AsioConnection connection = connect();
  std::vector<std::size_t> first;
  std::string text;
  const auto client = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context_, 1ms);
    first.push_back(
        (co_await (connection.async_receive(asio::use_awaitable) || timer.async_wait(asio::use_awaitable))).index());
    timer.expires_after(1ms);
    first.push_back(
        (co_await (connection.async_join("news", 1h, asio::use_awaitable) || timer.async_wait(asio::use_awaitable)))
            .index());
    timer.expires_after(1ms);
    first.push_back(
        (co_await (connection.async_confirm(1h, asio::use_awaitable) || timer.async_wait(asio::use_awaitable)))
            .index());
    daemon_.write(message_frame("kept"));
    timer.expires_after(1h);
    const auto last = co_await (connection.async_receive(asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    text = std::get<0>(last).get<Message>().text();
  };
  ASSERT_FALSE(connection.connection().multicast(Service::fifo, "g", "not confirmed"));
  run(client(), [] {});
  EXPECT_EQ(first, (std::vector<std::size_t>{1, 1, 1})) << "the timer was first";
  EXPECT_EQ(text, "kept");
}

#endif

TEST_F(ClientAsio, SendingWaitsNoLongerThanTheConnectionSays) {
  AsioConnection connection = connect({.send_timeout = 1ms, .send_buffer_bytes = 10'000});
  fill(connection.connection());
  std::error_code sent;
  connection.async_multicast(Service::fifo, "g", "x", {}, [&](std::error_code error) { sent = error; });
  context_.run_for(30s);
  EXPECT_EQ(sent, Errc::timed_out);
}

TEST_F(ClientAsio, AllWaitsForRoomHaveOneTime) {
  AsioConnection connection = connect({.independent_flows = true});
  Connection& sender = connection.connection();
  const std::string payload(1000, 'x');
  std::size_t sent = 0;
  while (!sender.try_multicast(Service::fifo, "g", payload)) ++sent;
  daemon_.read_messages(sent);
  std::optional<std::error_code> end;
  connection.async_multicast(Service::fifo, "g", "late", {.timeout = 50ms},
                             [&](std::error_code error) { end = error; });
  run_what_is_ready();
  // Whenever there is room somebody else takes it before the operation does.
  Bytes room;
  protocol::write_admitted(room, {0, static_cast<std::uint32_t>(protocol::flow_bytes(payload.size()))});
  for (int round = 0; round < 50'000 && !end; ++round) {
    daemon_.write(room);
    ASSERT_FALSE(sender.multicast(Service::fifo, "g", payload, {.timeout = 1h}));
    daemon_.read_messages(1);
    context_.run_one();
    context_.restart();
  }
  EXPECT_EQ(end, std::error_code(Errc::timed_out));
}

TEST_F(ClientAsio, SendingIsCancelledAndHasSentNothing) {
  AsioConnection connection = connect({.send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection.connection());
  for (const bool waits : {true, false}) {
    std::error_code cancelled;
    connection.async_multicast(
        Service::fifo, "g", "cancelled", {},
        asio::bind_cancellation_slot(cancel_.slot(), [&](std::error_code error) { cancelled = error; }));
    if (waits) run_what_is_ready();
    cancel_.emit(asio::cancellation_type::total);
    context_.run();
    context_.restart();
    EXPECT_EQ(cancelled, asio::error::operation_aborted) << waits;
  }
  std::thread waiter([&] { EXPECT_FALSE(connection.connection().multicast(Service::fifo, "g", "sent")); });
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "sent");
  waiter.join();
}

TEST_F(ClientAsio, SendingWaitsForTheViewThatAGroupWasFlushedFor) {
  AsioConnection connection = connect();
  Bytes bytes;
  protocol::write_flush(bytes, protocol::ClientFrame::flush_request, {7, "news"});
  daemon_.write(bytes);
  ASSERT_FALSE(connection.connection().flush_ok(connection.connection().receive().value().get<FlushRequest>()));
  EXPECT_EQ(daemon_.read().type, protocol::ClientFrame::flush_ok);
  std::error_code sent = Errc::timed_out;
  connection.async_multicast(Service::fifo, "news", "x", {}, [&](std::error_code error) { sent = error; });
  run_what_is_ready();
  EXPECT_EQ(sent, Errc::timed_out) << "it waits";
  protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
  view.joined = view.members = {"#me#fake"};
  bytes.clear();
  protocol::write_view(bytes, view);
  daemon_.write(bytes);
  context_.run();
  EXPECT_FALSE(sent) << sent.message();
  EXPECT_EQ(daemon_.read_messages(1).front(), "x");
}

TEST_F(ClientAsio, JoiningIsCancelledAndTheRequestStands) {
  AsioConnection connection = connect();
  std::error_code cancelled;
  connection.async_join("news", 1h,
                        asio::bind_cancellation_slot(
                            cancel_.slot(), [&](std::error_code error, const GroupView&) { cancelled = error; }));
  cancel_.emit(asio::cancellation_type::total);
  const std::uint32_t request = daemon_.read_request();
  ASSERT_FALSE(connection.connection().multicast(Service::fifo, "g", "not confirmed"));
  connection.async_confirm(1ms, [&](std::error_code error, NotTaken) {
    EXPECT_FALSE(error);
    EXPECT_FALSE(cancelled) << "what has effects is not cancelled so";
    cancel_.emit(asio::cancellation_type::partial);
  });
  context_.run();
  EXPECT_EQ(cancelled, asio::error::operation_aborted);
  Bytes refusal;
  protocol::write_reply(refusal, {request, static_cast<std::uint16_t>(Errc::access_denied)});
  daemon_.write(refusal);
  EXPECT_TRUE(connection.connection().receive()->is<RequestFailed>());
}

TEST_F(ClientAsio, ConfirmingIsCancelledAndSaysWhatIsKnown) {
  AsioConnection connection = connect();
  ASSERT_FALSE(connection.connection().multicast(Service::fifo, "g", "not confirmed"));
  std::error_code cancelled;
  NotTaken known;
  connection.async_confirm(1h,
                           asio::bind_cancellation_slot(cancel_.slot(), [&](std::error_code error, NotTaken not_taken) {
                             cancelled = error;
                             known = not_taken;
                           }));
  cancel_.emit(asio::cancellation_type::total);
  context_.run();
  EXPECT_EQ(cancelled, asio::error::operation_aborted);
  EXPECT_EQ(known.messages, 1u);
}

TEST_F(ClientAsio, ACancellationBetweenTwoStepsIsNotLost) {
  AsioConnection connection = connect();
  std::error_code cancelled;
  connection.async_receive(
      asio::bind_cancellation_slot(cancel_.slot(), [&](std::error_code error, Event) { cancelled = error; }));
  cancel_.emit(asio::cancellation_type::all);
  context_.run();
  EXPECT_EQ(cancelled, asio::error::operation_aborted);
}

/// Whose copies would be noticed, and which notices on what thread it goes.
class OwnedHandler {
 public:
  explicit OwnedHandler(std::function<void()> done) : done_(std::move(done)) {}
  OwnedHandler(OwnedHandler&&) = default;
  ~OwnedHandler() {
    if (home_ == nullptr) return;
    EXPECT_EQ(*home_, std::this_thread::get_id()) << "a handler goes on its executor";
  }
  template <typename... Results>
  void operator()(std::error_code, const Results&...) {
    done_();
  }

 private:
  std::function<void()> done_;
  std::unique_ptr<std::thread::id> home_ = std::make_unique<std::thread::id>(std::this_thread::get_id());
};

TEST_F(ClientAsio, HandlersAreMovedAndCalledOnTheirExecutors) {
  AsioConnection connection = connect();
  const auto strand = asio::make_strand(context_);
  int on_strand = 0;
  const auto count = [&] { on_strand += strand.running_in_this_thread() ? 1 : 100; };
  for (int i = 0; i < 100; ++i) {
    asio::cancellation_signal cancel;
    const auto bound = [&] {
      return asio::bind_cancellation_slot(cancel.slot(), asio::bind_executor(strand, OwnedHandler(count)));
    };
    connection.async_join("news", 1h, bound());
    cancel.emit(asio::cancellation_type::terminal);
    connection.async_confirm(1h, bound());
    cancel.emit(asio::cancellation_type::terminal);
    context_.run();
    context_.restart();
  }
  EXPECT_EQ(on_strand, 200);
}

TEST_F(ClientAsio, EachOperationCompletesOnceWhateverCancelsIt) {
  constexpr int kRounds = 1000;
  AsioConnection connection = connect();
  std::thread server([&] {
    for (Frame frame = daemon_.read(); frame.type == protocol::ClientFrame::confirm; frame = daemon_.read()) {
      Bytes bytes;
      protocol::write_confirmed(bytes, {protocol::read_confirm(frame.body).value_or(0), 0});
      daemon_.write(bytes);
    }
  });
  const auto strand = asio::make_strand(context_);
  std::vector<int> completed(kRounds);
  std::vector<asio::cancellation_signal> signals(kRounds);
  std::function<void(std::size_t)> begin = [&](std::size_t i) {
    if (i == kRounds) return;
    connection.async_confirm(1h, asio::bind_cancellation_slot(
                                     signals[i].slot(), asio::bind_executor(strand, [&, i](std::error_code, NotTaken) {
                                       ++completed[i];
                                       begin(i + 1);
                                     })));
    asio::post(strand, [&, i] { signals[i].emit(asio::cancellation_type::all); });
  };
  asio::post(strand, [&] { begin(0); });
  std::thread other([&] { context_.run(); });
  context_.run();
  other.join();
  connection.connection() = Connection();
  server.join();
  EXPECT_EQ(completed, std::vector<int>(kRounds, 1));
}

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

TEST_F(ClientAsio, LeavesNoDescriptorToProgramsThatItsOwnStarts) {
  const auto kept = [] {
    std::set<int> numbers;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      const int number = std::stoi(each.path().filename());
      const int flags = ::fcntl(number, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) == 0) numbers.insert(number);
    }
    return numbers;
  };
  Connection plain = daemon_.connect({.disconnect_timeout = 1ms});
  const std::set<int> before = kept();
  const AsioConnection connection(context_.get_executor(), std::move(plain));
  EXPECT_EQ(kept(), before);
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
    fill(connection.connection());
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
