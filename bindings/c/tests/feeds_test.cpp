// Feeds, against a daemon that the test plays: what is asked of it, and what is said of what it tells.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "bindings/c/tests/connection.h"
#include "libclient/protocol/feed_frames.h"

namespace spindle::c {
namespace {

using protocol::ClientFrame;
using test::Bytes;
using test::Frame;

const spindle_bytes kNews = spindle_text("news");

class CFeeds : public ConnectionTest {
 protected:
  void SetUp() override {
    ConnectionTest::SetUp();
    ASSERT_EQ(connect(), 0);
  }
  void TearDown() override {
    spindle_feed_close(feed_);
    ConnectionTest::TearDown();
  }
  void tell(const protocol::FeedNews& news) {
    Bytes frame;
    protocol::write_feed_news(frame, news);
    daemon_.write(frame);
  }
  /// Opens a feed that is number 3 of the daemon's.
  void open(std::uint64_t room, const spindle_feed_options* options = nullptr) {
    std::thread daemon([&] {
      const Frame frame = daemon_.read();
      asked_ = frame;
      const auto request = protocol::read_feed_open(frame.body);
      if (request) tell(protocol::FeedReady{request->request, 3, room});
    });
    EXPECT_EQ(spindle_feed_open(connection_, kNews, options, kSecond * 30, &feed_), 0);
    daemon.join();
  }

  spindle_feed* feed_ = nullptr;
  Frame asked_;
};

TEST_F(CFeeds, AreOpenedWithTheirOptions) {
  spindle_feed_options* options = spindle_feed_options_new();
  EXPECT_EQ(spindle_feed_options_set_repair_for(options, -1), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_feed_options_set_repair_for(options, 100 * kMillisecond), 0);
  EXPECT_EQ(spindle_feed_options_set_rate(options, 5000), 0);
  EXPECT_EQ(spindle_feed_options_set_drop_oldest(options, 1), 0);
  open(1, options);
  spindle_feed_options_free(options);
  ASSERT_NE(feed_, nullptr);
  const auto asked = protocol::read_feed_open(asked_.body);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->group, "news");
  EXPECT_EQ(asked->repair_for_us, 100'000u);
  EXPECT_EQ(asked->bytes_per_second_max, 5000u);
  EXPECT_NE(spindle_feed_id(feed_), 0u);
  EXPECT_EQ(spindle_feed_is_open(feed_), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(spindle_feed_send(feed_, spindle_text("x")), 0);
  EXPECT_EQ(spindle_feed_dropped(feed_), 1u) << "the first is sent, and one is kept";
}

TEST_F(CFeeds, SendAsMuchAsThereIsRoomFor) {
  open(5);
  EXPECT_EQ(spindle_feed_send(feed_, spindle_text("hello")), 0);
  EXPECT_EQ(spindle_feed_send(feed_, spindle_text("again")), SPINDLE_ERROR_WOULD_BLOCK);
  EXPECT_EQ(spindle_feed_send(feed_, spindle_bytes{nullptr, 0}), SPINDLE_ERROR_BAD_ARGUMENT);
  const Frame frame = daemon_.read();
  ASSERT_EQ(frame.type, ClientFrame::feed_send);
  EXPECT_EQ(as_text(protocol::read_feed_send(frame.body)->payload), "hello");
  tell(protocol::FeedRoom{3, 100});
  spindle_event* event = next();
  EXPECT_EQ(spindle_event_kind(event), unsigned{SPINDLE_EVENT_FEED_WRITABLE});
  EXPECT_EQ(spindle_event_feed(event), spindle_feed_id(feed_));
  spindle_event_free(event);
  EXPECT_EQ(spindle_feed_send(feed_, spindle_text("again")), 0);
}

TEST_F(CFeeds, ARefusalIsACode) {
  std::thread daemon([&] {
    Bytes frame;
    const auto request = protocol::read_feed_open(daemon_.read().body);
    protocol::write_reply(frame, {request->request, static_cast<std::uint16_t>(Errc::access_denied)});
    daemon_.write(frame);
  });
  EXPECT_EQ(spindle_feed_open(connection_, kNews, nullptr, kSecond * 30, &feed_), SPINDLE_ERROR_ACCESS_DENIED);
  daemon.join();
  EXPECT_EQ(feed_, nullptr);
  EXPECT_EQ(spindle_feed_open(connection_, kNews, nullptr, 0, &feed_), SPINDLE_ERROR_TIMED_OUT);
}

TEST_F(CFeeds, AreHeard) {
  EXPECT_EQ(spindle_listen(connection_, kNews, 2, kMillisecond), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_listen(connection_, kNews, SPINDLE_FEED_IMMEDIATE, -1), 0);
  const Frame frame = daemon_.read();
  ASSERT_EQ(frame.type, ClientFrame::listen);
  tell(protocol::FeedOpened{4, 0, "news", "#ann#fake"});
  tell(protocol::FeedPacket{4, 0, 3, as_bytes("hello")});
  EXPECT_EQ(next_kind(), unsigned{SPINDLE_EVENT_FEED_OPENED});
  spindle_event* event = next();
  EXPECT_EQ(text(spindle_feed_packet_payload(event)), "hello");
  spindle_event_free(event);
  EXPECT_EQ(spindle_stop_listening(connection_, kNews), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::stop_listening);
}

TEST_F(CFeeds, OutliveTheirConnection) {
  open(5);
  spindle_close(connection_);
  connection_ = nullptr;
  EXPECT_EQ(spindle_feed_send(feed_, spindle_text("late")), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(spindle_feed_is_open(feed_), 0);
}

}  // namespace
}  // namespace spindle::c
