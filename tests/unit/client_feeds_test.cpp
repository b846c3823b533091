// A client's feeds on an engine that is given the daemon's frames.
#include <gtest/gtest.h>

#include <string>

#include "libclient/protocol/client_feeds.h"
#include "libclient/protocol/client_session.h"

namespace spindle::protocol {
namespace {

using namespace std::chrono_literals;

struct Sent {
  ClientFrame type{};
  std::vector<std::uint8_t> body;
};

class ClientFeedsTest : public testing::Test, private RequestObserver {
 protected:
  ClientFeedsTest() {
    engine_.observe(this);
    engine_.writer().expect_return();
    engine_.start({.name = "me"});
    std::vector<std::uint8_t> frame;
    write_welcome(frame, {1, "#me#alpha"});
    engine_.handle_bytes(frame);
    sent();
  }

  void told(const FeedNews& news) {
    std::vector<std::uint8_t> frame;
    write_feed_news(frame, news);
    engine_.handle_bytes(frame);
  }
  void replied(std::uint32_t request, Errc code) {
    std::vector<std::uint8_t> frame;
    write_reply(frame, {request, static_cast<std::uint16_t>(code)});
    engine_.handle_bytes(frame);
  }
  void whole(FeedNumber feed, std::uint64_t sequence, std::string_view text) {
    told(FeedPacket{feed, sequence, FeedPacket::kFirst | FeedPacket::kLast, as_bytes(text)});
  }
  /// What the client has sent since.
  std::vector<Sent> sent() {
    std::vector<Sent> all;
    while (engine_.writer().writable_size() != 0) {
      const ByteView output = engine_.output();
      for (ByteView left = output; !left.empty();) {
        const auto head = *read_frame_head(left);
        const ByteView body = left.subspan(kFrameHeadBytes, head.length);
        all.push_back({static_cast<ClientFrame>(head.type), {body.begin(), body.end()}});
        left = left.subspan(kFrameHeadBytes + head.length);
      }
      engine_.consume(output.size());
    }
    return all;
  }
  /// The messages that it has sent since to `feed`.
  std::vector<std::string> messages(FeedNumber feed) {
    std::vector<std::string> all;
    for (const Sent& each : sent()) {
      const auto send = each.type == ClientFrame::feed_send ? read_feed_send(each.body) : std::nullopt;
      if (send && send->feed == feed) all.emplace_back(as_text(send->payload));
    }
    return all;
  }
  /// A feed that is open as that number.
  FeedId open(FeedNumber number, std::uint64_t room, bool drops_oldest = false) {
    FeedId id = 0;
    EXPECT_FALSE(feeds_.open("news", {.drops_oldest = drops_oldest}, id));
    const auto frames = sent();
    EXPECT_EQ(frames.size(), 1u);
    told(FeedReady{read_feed_open(frames.at(0).body)->request, number, room});
    const auto opened = feeds_.take_opened();
    EXPECT_EQ(opened.size(), 1u);
    EXPECT_EQ(opened.at(0).feed, id);
    EXPECT_FALSE(opened.at(0).error);
    return id;
  }
  void listen(bool is_ordered = true) {
    EXPECT_FALSE(feeds_.listen("news", {is_ordered, 50ms}));
    const auto frames = sent();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].type, ClientFrame::listen);
    replied(read_listen(frames[0].body)->request, Errc{});
  }
  std::vector<Event> events() {
    std::vector<Event> all;
    feeds_.take_events(all);
    return all;
  }
  void begin_anew() {
    engine_.writer().start_anew(false);
    feeds_.begin_anew();
  }

  // RequestObserver
  bool refused(std::uint32_t, const RequestFailed& failed) override {
    if (failed.request == RequestFailed::Request::listen) feeds_.forget_group(failed.group);
    return false;
  }
  void confirmed(std::uint32_t) override {}
  void answered(Requests::Number, Answers) override {}
  void feed_refused(std::uint32_t request, std::error_code error) override { feeds_.refused(request, error); }
  void feed_news(const FeedNews& news) override { feeds_.take(now_, news); }
  void group_left(std::string_view group) override { feeds_.note_left(group); }

  Instant now_ = 1s;
  ClientEngine engine_;
  ClientFeeds feeds_{engine_.writer()};
};

TEST_F(ClientFeedsTest, OpensAFeedAndSendsAsMuchAsThereIsRoomFor) {
  FeedId id = 0;
  ASSERT_FALSE(feeds_.open("news", {200'000, 5000, false}, id));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  const auto asked = read_feed_open(frames[0].body);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->group, "news");
  EXPECT_EQ(asked->repair_for_us, 200'000u);
  EXPECT_EQ(asked->bytes_per_second_max, 5000u);
  EXPECT_EQ(feeds_.send(id, "early"), Errc::would_block);
  told(FeedReady{asked->request, 3, 10});
  EXPECT_EQ(feeds_.take_opened().size(), 1u);
  auto got = events();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].get<FeedWritable>().feed, id);

  EXPECT_FALSE(feeds_.send(id, "seven b"));
  EXPECT_FALSE(feeds_.send(id, "seven b")) << "the last one may exceed the room";
  EXPECT_EQ(feeds_.send(id, "x"), Errc::would_block);
  EXPECT_EQ(messages(3), (std::vector<std::string>{"seven b", "seven b"}));
  told(FeedRoom{3, 4});
  EXPECT_EQ(feeds_.send(id, "x"), Errc::would_block) << "what went beyond is made up for";
  EXPECT_TRUE(events().empty());
  told(FeedRoom{3, 1});
  got = events();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0].is<FeedWritable>());
  EXPECT_FALSE(feeds_.send(id, {"in ", "pieces"}));
  EXPECT_EQ(messages(3), std::vector<std::string>{"in pieces"});
  told(FeedRoom{3, 100});
  EXPECT_TRUE(events().empty()) << "nobody has been told would_block";
}

TEST_F(ClientFeedsTest, RefusesWhatIsNoMessage) {
  const FeedId id = open(3, 1'000'000);
  EXPECT_EQ(feeds_.send(id, ""), Errc::bad_argument);
  EXPECT_EQ(feeds_.send(id, std::string(kFeedMessageBytesMax + 1, 'x')), Errc::message_too_large);
  EXPECT_FALSE(feeds_.send(id, std::string(kFeedMessageBytesMax, 'x')));
  EXPECT_EQ(feeds_.send(id + 1, "x"), Errc::unknown_feed);
  FeedId other = 0;
  EXPECT_EQ(feeds_.open("#bad", {}, other), Errc::bad_group_name);
  EXPECT_EQ(feeds_.open("news", {kRepairForMaxUs + 1, 0, false}, other), Errc::bad_argument);
  EXPECT_EQ(feeds_.listen("#bad", {}), Errc::bad_group_name);
}

TEST_F(ClientFeedsTest, KeepsTheNewestWhereItDropsTheOldest) {
  const FeedId id = open(3, 10, true);
  EXPECT_FALSE(feeds_.send(id, "0123456789"));
  for (const std::string_view text : {"aaaa", "bbbb", "cccc", "dddd"}) EXPECT_FALSE(feeds_.send(id, text));
  EXPECT_EQ(feeds_.dropped(id), 2u) << "as much is kept as the most room that there was";
  EXPECT_EQ(messages(3), std::vector<std::string>{"0123456789"});
  told(FeedRoom{3, 3});
  EXPECT_EQ(messages(3), std::vector<std::string>{"cccc"});
  EXPECT_FALSE(feeds_.send(id, "eeee"));
  told(FeedRoom{3, 100});
  EXPECT_EQ(messages(3), (std::vector<std::string>{"dddd", "eeee"})) << "in the order in which they were sent";
  EXPECT_TRUE(events().empty());
}

TEST_F(ClientFeedsTest, AFeedThatIsRefusedIsNone) {
  FeedId id = 0;
  ASSERT_FALSE(feeds_.open("news", {}, id));
  replied(read_feed_open(sent().at(0).body)->request, Errc::access_denied);
  const auto opened = feeds_.take_opened();
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].error, Errc::access_denied);
  EXPECT_FALSE(feeds_.is_open(id));
  EXPECT_TRUE(events().empty());
}

TEST_F(ClientFeedsTest, ClosesWhatIsOpenedTooLate) {
  FeedId id = 0;
  ASSERT_FALSE(feeds_.open("news", {}, id));
  const auto asked = read_feed_open(sent().at(0).body);
  feeds_.close(id);
  EXPECT_TRUE(sent().empty());
  told(FeedReady{asked->request, 3, 100});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(read_feed_close(frames[0].body), FeedClose{3});
}

TEST_F(ClientFeedsTest, TellsHowAFeedFares) {
  const FeedId id = open(3, 100);
  EXPECT_FALSE(feeds_.flow(id));
  told(FeedFlow{3, 1'250'000, 40'000, kFeedLossMax / 2, FeedLimit::link});
  const auto got = events();
  ASSERT_EQ(got.size(), 1u);
  const auto& flow = got[0].get<spindle::FeedFlow>();
  EXPECT_EQ(flow.feed, id);
  EXPECT_EQ(flow.bytes_per_second, 1'250'000u);
  EXPECT_EQ(flow.round_trip, 40ms);
  EXPECT_NEAR(flow.loss, 0.5, 0.001);
  EXPECT_EQ(flow.limited_by, spindle::FeedLimit::link);
  ASSERT_TRUE(feeds_.flow(id));
  EXPECT_EQ(feeds_.flow(id)->bytes_per_second, 1'250'000u);
}

TEST_F(ClientFeedsTest, HearsTheFeedsOfAGroup) {
  listen();
  told(FeedOpened{4, 200'000, "news", "#ann#beta"});
  told(FeedOpened{5, 0, "other", "#ann#beta"});
  whole(4, 0, "first");
  whole(5, 0, "of a group that nobody listens to");
  whole(4, 2, "third");
  told(FeedGap{4, 1, 1, FeedGapCause::slow});
  told(FeedEnded{4, FeedEnd::closed});
  const auto got = events();
  ASSERT_EQ(got.size(), 5u);
  const auto& opened = got[0].get<spindle::FeedOpened>();
  EXPECT_EQ(opened.group, "news");
  EXPECT_EQ(opened.source, "#ann#beta");
  EXPECT_EQ(opened.repair_for, 200ms);
  EXPECT_EQ(got[1].get<spindle::FeedPacket>().text(), "first");
  EXPECT_EQ(got[1].get<spindle::FeedPacket>().feed, opened.feed);
  EXPECT_EQ(got[2].get<spindle::FeedGap>().first, 1u);
  EXPECT_EQ(got[2].get<spindle::FeedGap>().cause, spindle::FeedGap::Cause::slow);
  EXPECT_EQ(got[3].get<spindle::FeedPacket>().sequence, 2u);
  EXPECT_EQ(got[4].get<FeedClosed>().why, FeedClosed::Why::closed);
  whole(4, 3, "behind the end");
  EXPECT_TRUE(events().empty());
}

TEST_F(ClientFeedsTest, GivesTheMessagesOfABundleOneByOne) {
  listen();
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  constexpr std::uint8_t kFlags = FeedPacket::kFirst | FeedPacket::kLast | FeedPacket::kBundle;
  told(FeedPacket{4, 0, kFlags, as_bytes("\x03one\x03two")});
  whole(4, 1, "three");
  const auto got = events();
  ASSERT_EQ(got.size(), 4u);
  const char* const texts[] = {"one", "two", "three"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& packet = got[i + 1].get<spindle::FeedPacket>();
    EXPECT_EQ(packet.text(), texts[i]);
    EXPECT_EQ(packet.sequence, i / 2);
    EXPECT_EQ(packet.packets, 1u);
  }
}

TEST_F(ClientFeedsTest, WaitsNoLongerThanTheDeadline) {
  listen();
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  whole(4, 1, "second");
  EXPECT_EQ(events().size(), 1u);
  EXPECT_EQ(feeds_.next_deadline(), 1s + 50ms);
  feeds_.handle_time(1s + 50ms);
  const auto got = events();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].get<spindle::FeedGap>().count, 1u);
  EXPECT_EQ(got[1].get<spindle::FeedPacket>().text(), "second");
  EXPECT_EQ(feeds_.next_deadline(), kNeverAgain);
}

TEST_F(ClientFeedsTest, StopsToListen) {
  listen();
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  events();
  EXPECT_FALSE(feeds_.stop_listening("news"));
  whole(4, 0, "on its way");
  told(FeedOpened{5, 0, "news", "#bob#beta"});
  EXPECT_TRUE(events().empty());
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].type, ClientFrame::stop_listening);
  EXPECT_FALSE(feeds_.stop_listening("news"));
  EXPECT_TRUE(sent().empty());
}

TEST_F(ClientFeedsTest, ToListenMayBeRefused) {
  EXPECT_FALSE(feeds_.listen("news", {}));
  replied(read_listen(sent().at(0).body)->request, Errc::access_denied);
  const auto got = engine_.take_events();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].get<RequestFailed>().request, RequestFailed::Request::listen);
  EXPECT_EQ(got[0].get<RequestFailed>().error, Errc::access_denied);
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  EXPECT_TRUE(events().empty());
}

TEST_F(ClientFeedsTest, WhoLeavesTheGroupHearsTheEndAndMayComeBack) {
  listen();
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  whole(4, 1, "waits for the first");
  feeds_.note_left("news");
  auto got = events();
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[2].get<spindle::FeedPacket>().text(), "waits for the first");
  EXPECT_EQ(got[3].get<FeedClosed>().why, FeedClosed::Why::left);
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  whole(4, 7, "again");
  feeds_.handle_time(2s);
  got = events();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[2].get<spindle::FeedPacket>().text(), "again");
}

TEST_F(ClientFeedsTest, WhatWasOnItsWayAsItStoppedListeningHasAnEnd) {
  listen();
  EXPECT_FALSE(feeds_.stop_listening("news"));
  EXPECT_EQ(sent().size(), 1u);
  listen();
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  told(FeedEnded{4, FeedEnd::left});
  const auto got = events();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1].get<FeedClosed>().feed, got[0].get<spindle::FeedOpened>().feed);
  EXPECT_EQ(got[1].get<FeedClosed>().why, FeedClosed::Why::left);
}

/// A farewell and a view behind it come in one piece, and the feed between them.
TEST_F(ClientFeedsTest, WhoIsBackHearsTheFeedAgainThoughAllComesAtOnce) {
  listen();
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  events();
  std::vector<std::uint8_t> frames;
  GroupViewFrame farewell{"news", {5, "alpha", 3, 18}, ViewCause::leave, ViewForm::farewell};
  farewell.left = {"#me#alpha"};
  write_view(frames, farewell);
  write_feed_news(frames, FeedOpened{4, 0, "news", "#ann#beta"});
  engine_.handle_bytes(frames);
  const auto got = events();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].get<FeedClosed>().why, FeedClosed::Why::left);
  EXPECT_EQ(got[1].get<spindle::FeedOpened>().group, "news");
  whole(4, 0, "again");
  EXPECT_EQ(events().size(), 1u);
}

TEST_F(ClientFeedsTest, GoesOnInAnotherSession) {
  listen();
  const FeedId own = open(3, 100);
  told(FeedOpened{4, 0, "news", "#ann#beta"});
  events();
  begin_anew();
  auto got = events();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].get<FeedClosed>().why, FeedClosed::Why::lost);
  EXPECT_EQ(feeds_.send(own, "between"), Errc::would_block);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].type, ClientFrame::listen);
  ASSERT_EQ(frames[1].type, ClientFrame::feed_open);

  told(FeedOpened{3, 0, "news", "#ann#gamma"});  // the number of another feed there
  told(FeedReady{read_feed_open(frames[1].body)->request, 9, 50});
  got = events();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(got[0].is<spindle::FeedOpened>());
  EXPECT_EQ(got[1].get<FeedWritable>().feed, own);
  EXPECT_FALSE(feeds_.send(own, "anew"));
  EXPECT_EQ(messages(9), std::vector<std::string>{"anew"});
  EXPECT_TRUE(feeds_.take_opened().empty()) << "it was open before";
}

TEST_F(ClientFeedsTest, SaysWhyAFeedIsNotOpenedAgain) {
  const FeedId own = open(3, 100);
  begin_anew();
  replied(read_feed_open(sent().at(0).body)->request, Errc::access_denied);
  const auto got = events();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].get<FeedClosed>().feed, own);
  EXPECT_EQ(got[0].get<FeedClosed>().why, FeedClosed::Why::denied);
  EXPECT_EQ(got[0].get<FeedClosed>().error, Errc::access_denied);
  EXPECT_EQ(feeds_.send(own, "x"), Errc::unknown_feed);
}

TEST_F(ClientFeedsTest, HearsItsOwnFeedUnderAnotherId) {
  listen();
  const FeedId own = open(3, 100);
  told(FeedOpened{3, 0, "news", "#me#alpha"});
  whole(3, 0, "mine");
  told(FeedEnded{3, FeedEnd::denied});
  const auto got = events();
  ASSERT_EQ(got.size(), 4u);
  EXPECT_NE(got[0].get<spindle::FeedOpened>().feed, own);
  EXPECT_EQ(got[3].get<FeedClosed>().feed, own);
  EXPECT_FALSE(feeds_.is_open(own));
}

TEST_F(ClientFeedsTest, AnAnswerToNothingIsWrong) {
  told(FeedReady{77, 3, 100});
  EXPECT_TRUE(engine_.ended());
  EXPECT_EQ(engine_.take_events().back().get<Disconnected>().error, Errc::unexpected_frame);
}

TEST_F(ClientFeedsTest, BehindAFenceFeedsGoAhead) {
  ASSERT_FALSE(engine_.join("news"));
  sent();
  engine_.writer().start_anew(true);
  ASSERT_FALSE(engine_.multicast(Service::agreed, "news", "held"));
  FeedId id = 0;
  ASSERT_FALSE(feeds_.open("news", {}, id));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].type, ClientFrame::join);
  EXPECT_EQ(frames[1].type, ClientFrame::feed_open);
}

}  // namespace
}  // namespace spindle::protocol
