// Feeds of a connection to a daemon that the test plays.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "libclient/protocol/feed_frames.h"
#include "libclient/src/feed_events.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::ClientFrame;
using test::Bytes;
using test::FakeDaemon;
using test::Frame;

void append_packet(Bytes& out, protocol::FeedNumber feed, std::uint64_t sequence, std::string_view text) {
  protocol::write_feed_news(out, protocol::FeedPacket{feed, sequence, 3, as_bytes(text)});
}

class FeedConnection : public testing::Test {
 protected:
  /// Nobody answers a goodbye.
  Connection connect(ConnectOptions options = {}) {
    options.disconnect_timeout = 1ms;
    return daemon_.connect(options);
  }
  void tell(const protocol::FeedNews& news) {
    Bytes frame;
    protocol::write_feed_news(frame, news);
    daemon_.write(frame);
  }
  void packet(protocol::FeedNumber feed, std::uint64_t sequence, std::string_view text) {
    Bytes frame;
    append_packet(frame, feed, sequence, text);
    daemon_.write(frame);
  }
  Result<Feed> open(Connection& connection, std::uint64_t room, const FeedOptions& options = {}) {
    std::thread daemon([&] {
      const auto request = protocol::read_feed_open(daemon_.read().body);
      if (request) tell(protocol::FeedReady{request->request, 3, room});
    });
    Result<Feed> feed = connection.open_feed("news", options);
    daemon.join();
    return feed;
  }
  void listen(Connection& connection, const ListenOptions& options = {}) {
    ASSERT_FALSE(connection.listen("news", options));
    ASSERT_EQ(daemon_.read().type, ClientFrame::listen);
    tell(protocol::FeedOpened{4, 200'000, "news", "#ann#fake"});
  }

  FakeDaemon daemon_;
};

TEST_F(FeedConnection, IsSentAndClosed) {
  Connection connection = connect();
  {
    Feed feed = open(connection, 10).value();
    EXPECT_TRUE(feed.is_open());
    EXPECT_NE(feed.id(), 0u);
    EXPECT_FALSE(feed.flow());
    EXPECT_FALSE(feed.try_send("0123456789"));
    EXPECT_EQ(feed.try_send("x"), Errc::would_block);
    const Frame frame = daemon_.read();
    ASSERT_EQ(frame.type, ClientFrame::feed_send);
    tell(protocol::FeedFlow{3, 5000, 0, 0, protocol::FeedLimit::source});
    tell(protocol::FeedRoom{3, 10});
    // Events of one feed, and so no more than one of each kind.
    bool has_flow = false, is_writable = false;
    while (!has_flow || !is_writable) {
      const auto event = connection.receive();
      ASSERT_TRUE(event);
      if (const auto* flow = event->get_if<FeedFlow>()) has_flow = flow->bytes_per_second == 5000;
      if (const auto* writable = event->get_if<FeedWritable>()) is_writable = writable->feed == feed.id();
    }
    EXPECT_EQ(feed.flow()->limited_by, FeedLimit::source);
    Feed other = std::move(feed);
    EXPECT_EQ(feed.id(), 0u);
    EXPECT_EQ(feed.try_send("x"), Errc::unknown_feed);
  }
  const Frame frame = daemon_.read();
  EXPECT_EQ(frame.type, ClientFrame::feed_close);
  EXPECT_EQ(protocol::read_feed_close(frame.body), protocol::FeedClose{3});
}

TEST_F(FeedConnection, IsHeardByReceiving) {
  Connection connection = connect();
  listen(connection);
  packet(4, 0, "first");
  packet(4, 2, "third");
  const auto opened = connection.receive();
  ASSERT_TRUE(opened && opened->is<FeedOpened>());
  EXPECT_EQ(opened->get<FeedOpened>().source, "#ann#fake");
  EXPECT_EQ(connection.receive()->get<FeedPacket>().text(), "first");
  // The connection's own thread sees to the deadline.
  const auto gap = connection.receive();
  ASSERT_TRUE(gap && gap->is<FeedGap>());
  EXPECT_EQ(gap->get<FeedGap>().first, 1u);
  EXPECT_EQ(connection.receive()->get<FeedPacket>().text(), "third");
  EXPECT_EQ(connection.receive(0ns), std::nullopt);
}

TEST_F(FeedConnection, IsHeardByAHandler) {
  Connection connection = connect();
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> heard;
  connection.set_handler([&](Event event) {
    const std::lock_guard lock(mutex);
    if (const auto* packet = event.get_if<FeedPacket>()) heard.emplace_back(packet->text());
    if (const auto* gap = event.get_if<FeedGap>()) heard.push_back("gap of " + std::to_string(gap->count));
    changed.notify_all();
  });
  listen(connection, {.deadline = 1ms});
  packet(4, 0, "first");
  packet(4, 3, "fourth");
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return heard.size() == 3; });
  EXPECT_EQ(heard, (std::vector<std::string>{"first", "gap of 2", "fourth"}));
  lock.unlock();
  connection.set_handler({});
}

TEST_F(FeedConnection, AHandlerCannotWaitForAFeed) {
  Connection connection = connect();
  std::mutex mutex;
  std::condition_variable changed;
  std::error_code error;
  bool is_done = false;
  connection.set_handler([&](Event) {
    const std::lock_guard lock(mutex);
    error = connection.open_feed("news").error();
    is_done = true;
    changed.notify_all();
  });
  daemon_.write(test::message_frame("hello"));
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return is_done; });
  EXPECT_EQ(error, Errc::would_block);
  lock.unlock();
  connection.set_handler({});
}

// Who does not receive loses packets, and nothing else waits for them.
TEST_F(FeedConnection, DoesNotFillTheRoomOfMessages) {
  ConnectOptions options;
  options.receive_buffer_bytes = 64u << 10;
  Connection connection = connect(options);
  listen(connection);
  const std::string text(1000, 'x');
  constexpr std::uint64_t kPackets = 2000;
  for (std::uint64_t i = 0; i < kPackets; ++i) packet(4, i, text);
  daemon_.write(test::message_frame("a message"));
  // The daemon is read to the end: the connection has taken everything by then.
  Bytes ping;
  protocol::write_feed_news(ping, protocol::FeedEnded{4, protocol::FeedEnd::closed});
  daemon_.write(ping);
  std::uint64_t next = 0;
  bool has_message = false, has_end = false;
  while (!has_message || !has_end) {
    const auto event = connection.receive();
    ASSERT_TRUE(event);
    has_message = has_message || event->is<Message>();
    has_end = has_end || event->is<FeedClosed>();
    if (const auto* packet = event->get_if<FeedPacket>()) {
      EXPECT_EQ(packet->sequence, next);
      next += packet->packets;
    } else if (const auto* gap = event->get_if<FeedGap>()) {
      EXPECT_EQ(gap->first, next);
      EXPECT_EQ(gap->cause, FeedGap::Cause::slow);
      next += gap->count;
    }
  }
  EXPECT_EQ(next, kPackets);
}

TEST_F(FeedConnection, TellsFeedsBeforeTheEnd) {
  Connection connection = connect();
  listen(connection);
  Bytes bytes;
  append_packet(bytes, 4, 0, "first");
  append_packet(bytes, 4, 2, "waits");
  const Bytes close = test::close_frame(Errc::daemon_stopping, "bye");
  bytes.insert(bytes.end(), close.begin(), close.end());
  daemon_.write(bytes);
  std::string kinds;
  while (const auto event = connection.receive()) kinds += std::string(to_string(event->kind())) + ' ';
  EXPECT_EQ(kinds, "feed_opened feed_packet feed_gap feed_packet disconnected ");
  EXPECT_EQ(connection.listen("news"), Errc::not_connected);
}

TEST_F(FeedConnection, OpensAgainInAnotherSession) {
  daemon_.reconnect_timeout = 30s;
  Connection connection = connect();
  listen(connection);
  Feed feed = open(connection, 10).value();
  ASSERT_TRUE(connection.receive()->is<FeedOpened>());
  daemon_.hang_up();
  daemon_.accept();
  ASSERT_EQ(daemon_.read().type, ClientFrame::hello);
  Bytes welcome;
  protocol::write_welcome(welcome, {1, "#me2#fake"});
  daemon_.write(welcome);
  ASSERT_EQ(daemon_.read().type, ClientFrame::listen);
  const Frame asked = daemon_.read();
  ASSERT_EQ(asked.type, ClientFrame::feed_open);
  tell(protocol::FeedReady{protocol::read_feed_open(asked.body)->request, 8, 100});
  tell(protocol::FeedOpened{3, 0, "news", "#bob#fake"});
  std::string kinds;
  for (int i = 0; i < 3; ++i) kinds += std::string(to_string(connection.receive()->kind())) + ' ';
  EXPECT_NE(kinds.find("feed_closed"), std::string::npos) << kinds;
  EXPECT_NE(kinds.find("reconnected"), std::string::npos) << kinds;
  EXPECT_NE(kinds.find("feed_opened"), std::string::npos) << kinds;
  EXPECT_FALSE(feed.try_send("anew"));
  const Frame sent = daemon_.read();
  ASSERT_EQ(sent.type, ClientFrame::feed_send);
  EXPECT_EQ(protocol::read_feed_send(sent.body)->feed, 8u);
}

TEST_F(FeedConnection, IsNotConnectedWithoutAConnection) {
  Connection connection;
  EXPECT_EQ(connection.open_feed("news").error(), Errc::not_connected);
  EXPECT_EQ(connection.listen("news"), Errc::not_connected);
  EXPECT_EQ(connection.stop_listening("news"), Errc::not_connected);
  Feed feed;
  EXPECT_FALSE(feed.is_open());
  feed.close();
}

// --- What waits for a program that does not receive ---

std::vector<Event> packets(FeedId feed, std::uint64_t first, std::uint64_t count) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < count; ++i) {
    events.emplace_back(FeedPacket{feed, first + i, 1, std::vector<std::uint8_t>(1000)});
  }
  return events;
}

std::string shown(FeedEvents& waiting, std::size_t bytes = SIZE_MAX) {
  std::vector<Event> events;
  waiting.take(events, bytes);
  std::string text;
  for (const Event& event : events) {
    if (!text.empty()) text += ' ';
    if (const auto* opened = event.get_if<FeedOpened>()) text += 'o' + std::to_string(opened->feed);
    if (const auto* packet = event.get_if<FeedPacket>()) {
      text += 'p' + std::to_string(packet->feed) + '.' + std::to_string(packet->sequence);
    }
    if (const auto* gap = event.get_if<FeedGap>()) {
      text += std::string(to_string(gap->cause)) + std::to_string(gap->feed) + '.' + std::to_string(gap->first) + '+' +
              std::to_string(gap->count);
    }
    if (const auto* closed = event.get_if<FeedClosed>()) text += 'c' + std::to_string(closed->feed);
    if (const auto* flow = event.get_if<FeedFlow>()) text += 'f' + std::to_string(flow->bytes_per_second);
    if (const auto* writable = event.get_if<FeedWritable>()) text += 'w' + std::to_string(writable->feed);
  }
  return text;
}

TEST(FeedEventsThatWait, KeepTheirOrder) {
  FeedEvents waiting(1u << 20);
  std::vector<Event> events{FeedOpened{1, "news", "#ann#x", {}}};
  waiting.push(events);
  EXPECT_TRUE(events.empty());
  events = packets(1, 0, 3);
  events.emplace_back(FeedClosed{1, FeedClosed::Why::closed, {}});
  waiting.push(events);
  EXPECT_EQ(shown(waiting, 1), "o1");
  EXPECT_EQ(shown(waiting), "p1.0 p1.1 p1.2 c1");
  EXPECT_TRUE(waiting.empty());
  EXPECT_EQ(waiting.bytes(), 0u);
}

TEST(FeedEventsThatWait, LoseTheOldestPackets) {
  FeedEvents waiting(5u << 10);
  std::vector<Event> events{FeedOpened{1, "news", "#ann#x", {}}};
  for (const Event& event : packets(1, 0, 5)) events.push_back(event);
  events.emplace_back(FeedGap{1, 5, 2, FeedGap::Cause::lost});
  for (const Event& event : packets(1, 7, 6)) events.push_back(event);
  waiting.push(events);
  EXPECT_LE(waiting.bytes(), 5u << 10);
  const std::string text = shown(waiting);
  EXPECT_TRUE(text.starts_with("o1 slow1.0+9 p1.9")) << text;
}

/// Messages of one packet.
std::vector<Event> bundle(FeedId feed, std::uint64_t sequence, std::uint64_t messages) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < messages; ++i) events.push_back(packets(feed, sequence, 1).front());
  return events;
}

TEST(FeedEventsThatWait, LoseAllMessagesOfAPacketOrNone) {
  for (const std::size_t limit : {2'000u, 3'000u, 4'000u, 5'000u, 6'000u, 8'000u, 10'000u}) {
    FeedEvents waiting(limit);
    std::vector<Event> events = bundle(1, 0, 3);
    for (const Event& event : bundle(1, 1, 3)) events.push_back(event);
    for (const Event& event : bundle(2, 1, 1)) events.push_back(event);
    for (const Event& event : bundle(1, 2, 1)) events.push_back(event);
    waiting.push(events);
    EXPECT_LE(waiting.bytes(), limit);
    const std::string text = shown(waiting);
    for (const std::string each : {"1.0", "1.1"}) {
      const bool is_whole = text.find("p" + each + " p" + each + " p" + each) != std::string::npos;
      EXPECT_EQ(text.find("p" + each) != std::string::npos, is_whole) << text;
    }
    EXPECT_EQ(text.find("slow1.0+1") != std::string::npos,
              text.find("p1.0") == std::string::npos && text.find("p1.1") != std::string::npos)
        << text;
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(waiting.bytes(), 0u);
  }
}

TEST(FeedEventsThatWait, AreTakenWithAllMessagesOfAPacket) {
  FeedEvents waiting(8'000);
  std::vector<Event> events = bundle(1, 0, 3);
  for (const Event& event : bundle(1, 1, 2)) events.push_back(event);
  waiting.push(events);
  EXPECT_EQ(shown(waiting, 1), "p1.0 p1.0 p1.0");
  events = bundle(1, 2, 6);
  waiting.push(events);
  EXPECT_EQ(shown(waiting), "slow1.1+1 p1.2 p1.2 p1.2 p1.2 p1.2 p1.2");
}

TEST(FeedEventsThatWait, OfAFeedThatCameAndWentNothingIsTold) {
  FeedEvents waiting(3u << 10);
  std::vector<Event> events{FeedOpened{1, "news", "#ann#x", {}}, FeedClosed{1, FeedClosed::Why::closed, {}},
                            FeedClosed{2, FeedClosed::Why::lost, {}}};
  for (const Event& event : packets(3, 0, 4)) events.push_back(event);
  waiting.push(events);
  const std::string text = shown(waiting);
  EXPECT_TRUE(text.starts_with("c2 slow3.0")) << text;
  EXPECT_EQ(text.find("o1"), std::string::npos);
}

TEST(FeedEventsThatWait, HaveTheLastOfWhatIsNoPacket) {
  FeedEvents waiting(1u << 20);
  std::vector<Event> events{FeedFlow{1, 10, {}, 0, FeedLimit::start}, FeedWritable{1}, FeedWritable{1},
                            FeedFlow{1, 20, {}, 0, FeedLimit::start}};
  waiting.push(events);
  EXPECT_EQ(shown(waiting), "f20 w1");
}

}  // namespace
}  // namespace spindle
