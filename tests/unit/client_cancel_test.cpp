// Calls that the program ends by a stop.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <random>
#include <stop_token>
#include <thread>

#include "spindle/future.h"
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

/// The answer to a request to join "news", and the view.
Bytes joined_frames(std::uint32_t request) {
  Bytes frames;
  protocol::write_reply(frames, {request, 0});
  protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
  view.joined = view.members = {"#me#fake"};
  protocol::write_view(frames, view);
  return frames;
}

class ClientCancel : public testing::Test {
 protected:
  /// Nobody answers a goodbye.
  Connection connect(ConnectOptions options = {}) {
    options.disconnect_timeout = 1ms;
    return daemon_.connect(options);
  }
  /// Requests a stop while `call` goes on: most often when it waits already.
  template <typename Call>
  auto cancel_while(Call&& call) {
    std::stop_source source;
    std::jthread other([&] {
      std::this_thread::sleep_for(10ms);
      source.request_stop();
    });
    return call(source.get_token());
  }

  FakeDaemon daemon_;
  std::stop_source source_;
};

TEST_F(ClientCancel, SendingThatWaitsForTheBufferHasSentNothing) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection);
  const auto send = [&](const std::stop_token& stop) {
    return connection.multicast(Service::fifo, "g", "cancelled", {}, stop);
  };
  EXPECT_EQ(cancel_while(send), Errc::cancelled);
  std::thread waiter(
      [&] { EXPECT_FALSE(connection.multicast(Service::fifo, "g", "sent", {.timeout = 1h}, source_.get_token())); });
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "sent");
  waiter.join();
}

TEST_F(ClientCancel, SendingThatWaitsForAFlowHasSentNothing) {
  Connection connection = connect({.independent_flows = true});
  const std::size_t sent = fill(connection);
  const auto send = [&](const std::stop_token& stop) {
    return connection.multicast(Service::fifo, "g", "cancelled", {}, stop);
  };
  EXPECT_EQ(cancel_while(send), Errc::cancelled);
  EXPECT_FALSE(connection.multicast(Service::fifo, "other", "sent"));
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "sent");
}

TEST_F(ClientCancel, SendingThatWaitsForAViewHasSentNothing) {
  Connection connection = connect();
  Bytes frame;
  protocol::write_flush(frame, ClientFrame::flush_request, {7, "g"});
  daemon_.write(frame);
  const std::optional<Event> asked = connection.receive();
  ASSERT_FALSE(connection.flush_ok(asked.value().get<FlushRequest>()));
  EXPECT_EQ(daemon_.read().type, ClientFrame::flush_ok);
  const auto send = [&](const std::stop_token& stop) {
    return connection.multicast(Service::fifo, "g", "cancelled", {}, stop);
  };
  EXPECT_EQ(cancel_while(send), Errc::cancelled);
  EXPECT_FALSE(connection.multicast(Service::fifo, "other", "sent"));
  EXPECT_EQ(daemon_.read_messages(1).back(), "sent");
}

TEST_F(ClientCancel, ATimeoutHoldsBesideAStop) {
  Connection connection = connect({.send_timeout = 1ms, .send_buffer_bytes = 10'000});
  fill(connection);
  std::error_code error;
  const std::stop_token stop = source_.get_token();
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x", {}, stop), Errc::timed_out);
  EXPECT_EQ(connection.join("news", 1ms, {}, stop).error(), Errc::timed_out);
  EXPECT_FALSE(connection.receive(1ms, error, stop));
  EXPECT_EQ(error, Errc::timed_out);
  EXPECT_FALSE(connection.receive(0ms, error, stop));
  EXPECT_EQ(error, Errc::timed_out);
  EXPECT_GT(connection.confirm(1ms, stop).messages, 0u);
}

TEST_F(ClientCancel, WithATokenThatIsStoppedACallDoesNothing) {
  Connection connection = connect();
  daemon_.write(message_frame("kept"));
  source_.request_stop();
  const std::stop_token stop = source_.get_token();
  std::error_code error, writable;
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "cancelled", {}, stop), Errc::cancelled);
  EXPECT_EQ(connection.join("cancelled", 1h, {}, stop).error(), Errc::cancelled);
  EXPECT_EQ(connection.confirm(1h, stop).messages, 0u);
  EXPECT_FALSE(connection.receive(stop));
  EXPECT_FALSE(connection.receive(0ms, error, stop));
  EXPECT_EQ(error, Errc::cancelled);
  connection.when_writable(
      "g", 1h, [&](std::error_code result) { writable = result; }, stop);
  EXPECT_EQ(writable, Errc::cancelled) << "told at once";
  EXPECT_EQ(join_future(connection, "cancelled", 1h, stop).get().error(), Errc::cancelled);
  EXPECT_EQ(confirm_future(connection, 1h, stop).get().messages, 0u);
  EXPECT_EQ(multicast_future(connection, Service::fifo, "g", "cancelled", {}, stop).get(), Errc::cancelled);
  EXPECT_FALSE(connection.multicast(Service::fifo, "g", "sent"));
  EXPECT_EQ(daemon_.read_messages(1).at(0), "sent");
  EXPECT_EQ(connection.receive()->get<Message>().text(), "kept");
}

TEST_F(ClientCancel, AJoinThatWaitsForRoomIsNotMade) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection);
  const auto join = [&](const std::stop_token& stop) { return connection.join("news", {.synchronous = true}, stop); };
  EXPECT_EQ(cancel_while(join), Errc::cancelled);
  source_.request_stop();
  EXPECT_EQ(join(source_.get_token()), Errc::cancelled);
  daemon_.read_messages(sent);
  EXPECT_FALSE(join({}));
  EXPECT_EQ(daemon_.read().type, ClientFrame::join);
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "behind"));
  EXPECT_EQ(daemon_.read_messages(1).back(), "behind") << "and no other join";
}

TEST_F(ClientCancel, AJoinThatIsCancelledStands) {
  Connection connection = connect();
  std::uint32_t request = 0;
  std::thread other([&] {
    request = daemon_.read_request();
    source_.request_stop();
  });
  EXPECT_EQ(connection.join("news", 1h, {}, source_.get_token()).error(), Errc::cancelled);
  other.join();
  daemon_.write(joined_frames(request));
  EXPECT_EQ(connection.receive()->get<GroupView>().group, "news");
}

TEST_F(ClientCancel, AJoinThatWaitsForRoomHasAskedForNothing) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection);
  const auto join = [&](const std::stop_token& stop) { return connection.join("news", 1h, {}, stop); };
  EXPECT_EQ(cancel_while(join).error(), Errc::cancelled);
  const auto join_later = [&](const std::stop_token& stop) { return join_future(connection, "news", 1h, stop).get(); };
  EXPECT_EQ(cancel_while(join_later).error(), Errc::cancelled);
  std::thread waiter([&] { EXPECT_FALSE(connection.multicast(Service::fifo, "g", "behind")); });
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "behind");
  waiter.join();
}

TEST_F(ClientCancel, AConfirmationThatIsCancelledSaysWhatIsKnown) {
  Connection connection = connect();
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  daemon_.read_messages(10);
  Bytes taken;
  protocol::write_taken(taken, 4);
  daemon_.write(taken);
  daemon_.write(message_frame("told"));
  ASSERT_TRUE(connection.receive());
  const auto confirm = [&](const std::stop_token& stop) { return connection.confirm(1h, stop); };
  const auto confirm_later = [&](const std::stop_token& stop) { return confirm_future(connection, 1h, stop).get(); };
  for (const NotTaken& not_taken : {cancel_while(confirm), cancel_while(confirm_later)}) {
    EXPECT_EQ(not_taken.messages, 6u);
    EXPECT_FALSE(not_taken.exact);
  }
}

TEST_F(ClientCancel, ReceivingThatIsCancelledLosesNothing) {
  Connection connection = connect();
  const auto receive = [&](const std::stop_token& stop) { return connection.receive(stop); };
  EXPECT_FALSE(cancel_while(receive));
  std::error_code error;
  const auto receive_in_time = [&](const std::stop_token& stop) { return connection.receive(1h, error, stop); };
  EXPECT_FALSE(cancel_while(receive_in_time));
  EXPECT_EQ(error, Errc::cancelled);
  daemon_.write(message_frame("kept"));
  EXPECT_EQ(connection.receive(source_.get_token())->get<Message>().text(), "kept");
  daemon_.hang_up();
  EXPECT_TRUE(connection.receive(source_.get_token())->is<Disconnected>());
  EXPECT_FALSE(connection.receive(1h, error, source_.get_token()));
  EXPECT_EQ(error, Errc::not_connected);
}

TEST_F(ClientCancel, CallsBackOnTheConnectionsThread) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  std::promise<std::pair<std::error_code, std::thread::id>> joined, writable;
  const std::stop_token stop = source_.get_token();
  connection.join_then(
      "news", 1h,
      [&](Result<GroupView> view) {
        joined.set_value({view.error(), std::this_thread::get_id()});
      },
      {}, stop);
  fill(connection);
  connection.when_writable(
      "g", 1h,
      [&](std::error_code error) {
        writable.set_value({error, std::this_thread::get_id()});
      },
      stop);
  source_.request_stop();
  const auto [join_error, join_thread] = joined.get_future().get();
  const auto [room_error, room_thread] = writable.get_future().get();
  EXPECT_EQ(join_error, Errc::cancelled);
  EXPECT_EQ(room_error, Errc::cancelled);
  EXPECT_NE(join_thread, std::this_thread::get_id());
  EXPECT_EQ(join_thread, room_thread);
}

TEST_F(ClientCancel, AMessageThatWaitsInAFutureIsNotSent) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  const std::size_t sent = fill(connection);
  const auto send = [&](const std::stop_token& stop) {
    return multicast_future(connection, Service::fifo, "g", "cancelled", {}, stop).get();
  };
  EXPECT_EQ(cancel_while(send), Errc::cancelled);
  std::thread waiter([&] { EXPECT_FALSE(connection.multicast(Service::fifo, "g", "sent")); });
  EXPECT_EQ(daemon_.read_messages(sent + 1).back(), "sent");
  waiter.join();
}

TEST_F(ClientCancel, AStopThatIsLateChangesNothing) {
  Connection connection = connect();
  int joined = 0, confirmed = 0;
  std::promise<void> both;
  connection.join_then(
      "news", 1h, [&](Result<GroupView> view) { joined += view ? 1 : 100; }, {}, source_.get_token());
  connection.confirm_then(
      1h,
      [&](NotTaken not_taken) {
        confirmed += not_taken.exact ? 1 : 100;
        source_.request_stop();  // what stops the call may be its own function
        both.set_value();
      },
      source_.get_token());
  daemon_.write(joined_frames(daemon_.read_request()));
  daemon_.write(confirmed_frame(daemon_.read(), 0));
  both.get_future().wait();
  connection = Connection();
  EXPECT_EQ(joined, 1);
  EXPECT_EQ(confirmed, 1);
}

TEST_F(ClientCancel, ACallBackThatIsCancelledMayDropTheConnection) {
  auto connection = std::make_unique<Connection>(connect());
  std::promise<void> dropped;
  connection->confirm_then(
      1h,
      [&](NotTaken) {
        connection.reset();
        dropped.set_value();
      },
      source_.get_token());
  source_.request_stop();
  dropped.get_future().wait();
}

TEST_F(ClientCancel, AStopMayOutliveTheConnection) {
  std::atomic<int> ended = 0;
  {
    Connection connection = connect();
    connection.confirm_then(
        1h, [&](NotTaken) { ++ended; }, source_.get_token());
  }
  source_.request_stop();
  EXPECT_EQ(ended, 1);
}

TEST_F(ClientCancel, AHandlerMayRequestTheStop) {
  Connection connection = connect({.send_buffer_bytes = 10'000});
  fill(connection);
  connection.set_handler([&](Event&& event) {
    if (event.is<Message>()) source_.request_stop();
  });
  daemon_.write(message_frame("stop"));
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x", {}, source_.get_token()), Errc::cancelled);
}

TEST_F(ClientCancel, DrainingThatIsCancelledDisconnects) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  ASSERT_FALSE(connection.join("news"));
  ASSERT_FALSE(connection.multicast(Service::fifo, "g", "x"));
  const auto drain = [&](const std::stop_token& stop) { return connection.drain(1h, stop); };
  const NotTaken not_taken = cancel_while(drain);
  EXPECT_EQ(not_taken.messages, 1u);
  EXPECT_FALSE(not_taken.exact);
  EXPECT_FALSE(connection.is_open());
  EXPECT_TRUE(connection.receive()->is<Disconnected>());
}

TEST_F(ClientCancel, DrainingThatIsCancelledInItsGoodbyeEnds) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  std::stop_source source;
  std::jthread other([&] {
    EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
    source.request_stop();
  });
  connection.drain(1h, source.get_token());
  EXPECT_FALSE(connection.is_open());
}

TEST_F(ClientCancel, AClosedConnectionSaysSo) {
  Connection connection;
  std::error_code error;
  const std::stop_token stop = source_.get_token();
  EXPECT_EQ(connection.multicast(Service::fifo, "g", "x", {}, stop), Errc::not_connected);
  EXPECT_EQ(multicast_future(connection, Service::fifo, "g", "x", {}, stop).get(), Errc::not_connected);
  EXPECT_EQ(connection.send_timeout(), std::chrono::nanoseconds::max());
  EXPECT_EQ(connection.join("news", 1h, {}, stop).error(), Errc::not_connected);
  EXPECT_FALSE(connection.receive(stop));
  EXPECT_FALSE(connection.receive(1h, error, stop));
  EXPECT_EQ(error, Errc::not_connected);
}

// ---- Stops at random moments, under load ----

/// Stops of calls that several threads make, at random moments, by a thread of its own.
class RandomStops {
 public:
  explicit RandomStops(std::size_t callers) : callers_(callers) {}

  /// Of the next call of a caller, in place of that of the one before.
  std::stop_token next(std::size_t caller) {
    const std::lock_guard lock(mutex_);
    callers_[caller] = std::stop_source();
    return callers_[caller].get_token();
  }

 private:
  void run(const std::stop_token& end) {
    std::minstd_rand random(1);
    while (!end.stop_requested()) {
      const std::size_t caller = random() % callers_.size();
      if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
      std::stop_source source = [&] {
        const std::lock_guard lock(mutex_);
        return callers_[caller];
      }();
      source.request_stop();
    }
  }

  std::mutex mutex_;
  std::vector<std::stop_source> callers_;
  std::jthread thread_{[this](const std::stop_token& end) { run(end); }};
};

/// Reads slowly, up to the goodbye, and says that all was taken; the payloads.
std::vector<std::string> read_slowly(FakeDaemon& daemon) {
  std::vector<std::string> payloads;
  for (;;) {
    const Frame frame = daemon.read();
    if (frame.type == ClientFrame::bye) break;
    if (frame.type != ClientFrame::send) continue;
    payloads.emplace_back(spindle::as_text(protocol::read_send(frame.body)->chunk));
    if (payloads.size() % 64 == 0) std::this_thread::sleep_for(1ms);
  }
  daemon.write(close_frame(Errc::closed_by_client, "goodbye", payloads.size()));
  return payloads;
}

TEST_F(ClientCancel, UnderLoadWhatWasSentComesOnceAndNothingElseDoes) {
  constexpr std::size_t kThreads = 3;
  constexpr int kMessages = 1500;
  Connection connection = daemon_.connect({.disconnect_timeout = 1h, .send_buffer_bytes = 20'000});
  std::vector<std::string> received;
  std::thread server([&] { received = read_slowly(daemon_); });
  std::vector<std::vector<std::string>> sent(kThreads);
  std::atomic<int> cancelled = 0;
  {
    RandomStops stops(kThreads);
    std::vector<std::jthread> senders;
    for (std::size_t t = 0; t < kThreads; ++t) {
      senders.emplace_back([&, t] {
        for (int i = 0; i < kMessages; ++i) {
          std::string text = std::to_string(t) + ":" + std::to_string(i) + std::string(1000, '.');
          const std::error_code error = connection.multicast(Service::fifo, "g", text, {}, stops.next(t));
          if (error == Errc::cancelled) ++cancelled;
          if (error != Errc::cancelled) sent[t].push_back(std::move(text));
        }
      });
    }
  }
  EXPECT_EQ(connection.disconnect().messages, 0u);
  server.join();
  EXPECT_GT(cancelled, 0);
  std::vector<std::vector<std::string>> received_of(kThreads);
  for (const std::string& text : received) received_of[static_cast<std::size_t>(text[0] - '0')].push_back(text);
  for (std::size_t t = 0; t < kThreads; ++t) {
    EXPECT_FALSE(sent[t].empty());
    EXPECT_TRUE(received_of[t] == sent[t]) << sent[t].size() << " sent, " << received_of[t].size() << " received";
  }
}

TEST_F(ClientCancel, UnderLoadEveryEventIsReceivedOnce) {
  constexpr std::size_t kThreads = 2;
  constexpr std::size_t kMessages = 5000;
  Connection connection = connect();
  std::vector<std::vector<std::string>> received(kThreads);
  {
    RandomStops stops(kThreads);
    std::vector<std::jthread> receivers;
    for (std::size_t t = 0; t < kThreads; ++t) {
      receivers.emplace_back([&, t] {
        for (std::error_code error; error != Errc::not_connected;) {
          const std::optional<Event> event = connection.receive(1h, error, stops.next(t));
          if (!event) continue;
          if (const auto* message = event->get_if<Message>()) received[t].emplace_back(message->text());
        }
      });
    }
    for (std::size_t i = 0; i < kMessages; ++i) {
      daemon_.write(message_frame(std::to_string(i)));
      if (i % 100 == 0) std::this_thread::sleep_for(100us);
    }
    daemon_.hang_up();
  }
  std::map<std::string, int> times;
  for (const std::vector<std::string>& each : received) {
    for (const std::string& text : each) ++times[text];
  }
  EXPECT_EQ(times.size(), kMessages);
  for (const auto& [text, count] : times) EXPECT_EQ(count, 1) << text;
}

TEST_F(ClientCancel, UnderLoadEachCallBackComesOnce) {
  constexpr int kRounds = 3000;
  Connection connection = daemon_.connect({.disconnect_timeout = 1h, .send_buffer_bytes = 20'000});
  std::thread server([&] {
    for (;;) {
      const Frame frame = daemon_.read();
      if (frame.type == ClientFrame::bye) break;
      if (frame.type == ClientFrame::confirm) daemon_.write(confirmed_frame(frame, 0));
    }
    daemon_.write(close_frame(Errc::closed_by_client, "goodbye", 0));
  });
  std::vector<std::atomic<int>> confirmed(kRounds), writable(kRounds);
  {
    RandomStops stops(1);
    for (std::size_t i = 0; i < kRounds; ++i) {
      const std::stop_token stop = stops.next(0);
      connection.confirm_then(
          1h, [&, i](NotTaken) { ++confirmed[i]; }, stop);
      connection.when_writable(
          "g", 1h, [&, i](std::error_code) { ++writable[i]; }, stop);
      if (i % 16 == 0) confirm_future(connection, 1h).wait();
    }
  }
  connection.disconnect();
  connection = Connection();
  server.join();
  for (std::size_t i = 0; i < kRounds; ++i) {
    EXPECT_EQ(confirmed[i], 1) << i;
    EXPECT_EQ(writable[i], 1) << i;
  }
}

}  // namespace
}  // namespace spindle
