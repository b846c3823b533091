// Feeds at the sessions of one daemon, frame by frame.
#include "daemon/session/session.h"
#include "libclient/protocol/feed_frames.h"

#include "tests/unit/sessions_harness.h"

namespace spindled::test {
namespace {

class FeedSessions : public SessionsTest {
 protected:
  /// A client that is in "news".
  ConnectionId member(std::string_view name, std::vector<std::string> identities = {}) {
    settle();
    const ConnectionId connection = accept(std::move(identities));
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = name});
    protocol::write_group_request(frames, ClientFrame::join, {1, "news"});
    read(connection, frames);
    turns();
    return connection;
  }
  void turns(int count = 5) {
    for (int i = 0; i < count; ++i) turn();
  }
  Errc listen(ConnectionId connection, ClientFrame type = ClientFrame::listen, std::string_view group = "news") {
    std::vector<std::uint8_t> frames;
    protocol::write_listen(frames, type, {++request_, group});
    read(connection, frames);
    turns();
    return last_reply(connection);
  }
  Errc last_reply(ConnectionId connection) {
    const std::vector<ByteView> replies = frames_of(connection, ClientFrame::reply);
    if (replies.empty()) return Errc::internal_error;
    const auto reply = protocol::read_reply(replies.back());
    EXPECT_EQ(reply->request, request_);
    return static_cast<Errc>(reply->code);
  }
  void ask_to_open(ConnectionId connection, std::string_view group = "news", std::uint64_t bytes_per_second_max = 0) {
    std::vector<std::uint8_t> frames;
    protocol::write_feed_open(frames, {++request_, group, 200'000, bytes_per_second_max});
    read(connection, frames);
    turns();
  }
  protocol::FeedReady open_feed(ConnectionId connection, std::string_view group = "news",
                                std::uint64_t bytes_per_second_max = 0) {
    ask_to_open(connection, group, bytes_per_second_max);
    const std::vector<ByteView> ready = frames_of(connection, ClientFrame::feed_ready);
    if (ready.empty()) return {};
    const auto news = protocol::read_feed_news(ClientFrame::feed_ready, ready.back());
    EXPECT_EQ(std::get<protocol::FeedReady>(*news).request, request_);
    return std::get<protocol::FeedReady>(*news);
  }
  void send(ConnectionId connection, protocol::FeedNumber feed, ByteView payload) {
    std::vector<std::uint8_t> frames;
    protocol::write_feed_send(frames, {feed, payload});
    read(connection, frames);
    turns();
  }
  void close_feed(ConnectionId connection, protocol::FeedNumber feed) {
    std::vector<std::uint8_t> frames;
    protocol::write_feed_close(frames, {feed});
    read(connection, frames);
    turns();
  }
  /// The payload of all packets that it has got.
  std::string heard(ConnectionId connection) {
    std::string text;
    for (const ByteView body : frames_of(connection, ClientFrame::feed_packet)) {
      const auto news = protocol::read_feed_news(ClientFrame::feed_packet, body);
      text += spindle::as_text(std::get<protocol::FeedPacket>(*news).payload);
    }
    return text;
  }
  std::size_t count_of(ConnectionId connection, ClientFrame type) { return frames_of(connection, type).size(); }
  protocol::FeedEnd end_of(ConnectionId connection) {
    const auto news =
        protocol::read_feed_news(ClientFrame::feed_end, frames_of(connection, ClientFrame::feed_end).at(0));
    return std::get<protocol::FeedEnded>(*news).why;
  }
};

TEST_F(FeedSessions, BringAFeedToWhoListens) {
  const ConnectionId ann = member("ann"), bob = member("bob"), eve = member("eve");
  EXPECT_EQ(listen(bob), kDone);
  const protocol::FeedReady ready = open_feed(ann);
  ASSERT_NE(ready.feed, 0u);
  EXPECT_GT(ready.room, 0u);
  ASSERT_EQ(count_of(bob, ClientFrame::feed_opened), 1u);
  const auto news = protocol::read_feed_news(ClientFrame::feed_opened, frames_of(bob, ClientFrame::feed_opened)[0]);
  const auto& opened = std::get<protocol::FeedOpened>(*news);
  EXPECT_EQ(opened.feed, ready.feed);
  EXPECT_EQ(opened.group, "news");
  EXPECT_EQ(opened.repair_for_us, 200'000u);
  send(ann, ready.feed, spindle::as_bytes("hello"));
  turns(20);
  EXPECT_EQ(heard(bob), "hello");
  EXPECT_EQ(heard(eve), "");
  EXPECT_EQ(count_of(ann, ClientFrame::feed_room), 0u);  // so little is not worth a frame
  constexpr std::size_t kMessage = 16u << 10;
  for (std::size_t sent = 0; sent < ready.room; sent += kMessage) {
    send(ann, ready.feed, std::vector<std::uint8_t>(kMessage, 'x'));
  }
  EXPECT_GE(count_of(ann, ClientFrame::feed_room), 1u);
  close_feed(ann, ready.feed);
  turns(20);
  ASSERT_EQ(count_of(bob, ClientFrame::feed_end), 1u);
  EXPECT_EQ(end_of(bob), protocol::FeedEnd::closed);
  EXPECT_EQ(count_of(ann, ClientFrame::feed_end), 0u);
  EXPECT_TRUE(frames_of(ann, ClientFrame::close).empty());
}

TEST_F(FeedSessions, WhoStopsListeningHearsNothingMore) {
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(bob);
  const protocol::FeedReady ready = open_feed(ann);
  EXPECT_EQ(listen(bob, ClientFrame::stop_listening), kDone);
  EXPECT_EQ(listen(bob, ClientFrame::stop_listening), kDone);
  ASSERT_EQ(count_of(bob, ClientFrame::feed_end), 1u);
  EXPECT_EQ(end_of(bob), protocol::FeedEnd::left);
  send(ann, ready.feed, spindle::as_bytes("hello"));
  turns(20);
  EXPECT_EQ(heard(bob), "");
}

TEST_F(FeedSessions, WhoBeginsAndStopsListeningWithoutEndSharesTheTurnsOfOthers) {
  const ConnectionId ann = member("ann"), bob = member("bob"), eve = member("eve");
  for (std::size_t i = 0; i < Feeds::kFeedsPerClient; ++i) ASSERT_NE(open_feed(ann).feed, 0u);
  constexpr std::size_t kTimes = 500;
  std::vector<std::uint8_t> frames;
  for (std::size_t i = 0; i < kTimes; ++i) {
    protocol::write_listen(frames, ClientFrame::listen, {++request_, "news"});
    protocol::write_listen(frames, ClientFrame::stop_listening, {++request_, "news"});
  }
  const std::size_t before = count_of(bob, ClientFrame::reply);
  read(bob, frames);
  EXPECT_EQ(listen(eve), kDone) << "others have their turn";
  EXPECT_LT(count_of(bob, ClientFrame::reply), before + 2 * kTimes);
  for (int i = 0; count_of(bob, ClientFrame::reply) < before + 2 * kTimes && i < 1000; ++i) turn();
  EXPECT_EQ(count_of(bob, ClientFrame::reply), before + 2 * kTimes);
  EXPECT_LE(node_.work().largest_turn, config().turn_work_max / 5) << "and messages the rest of each";
}

TEST_F(FeedSessions, WhoWasToldOfWhatCountsAsMemory) {
  const ConnectionId ann = member("ann"), bob = member("bob"), eve = member("eve");
  for (std::size_t i = 0; i < Feeds::kFeedsPerClient; ++i) ASSERT_NE(open_feed(ann).feed, 0u);
  const auto bytes = [&] { return node_.feeds().listeners().memory_bytes(); };
  listen(bob);
  const std::size_t before = bytes();
  listen(eve);
  EXPECT_GE(bytes(), before + Feeds::kFeedsPerClient * 16);
  EXPECT_EQ(node_.feeds().listeners().size(), 2 * Feeds::kFeedsPerClient);
  listen(eve, ClientFrame::stop_listening);
  EXPECT_EQ(bytes(), before);
  node_.handle_closed(now_, ann, "gone");
  node_.end_turn(now_);
  turns(20);
  EXPECT_EQ(node_.feeds().listeners().size(), 0u);
}

TEST_F(FeedSessions, ASourceThatStopsListeningGoesOn) {
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(ann);
  listen(bob);
  const protocol::FeedReady ready = open_feed(ann);
  EXPECT_EQ(listen(ann, ClientFrame::stop_listening), kDone);
  ASSERT_EQ(count_of(ann, ClientFrame::feed_end), 1u);
  EXPECT_EQ(end_of(ann), protocol::FeedEnd::left);
  send(ann, ready.feed, spindle::as_bytes("hello"));
  turns(20);
  EXPECT_EQ(heard(bob), "hello");
  EXPECT_EQ(heard(ann), "");
}

TEST_F(FeedSessions, TheEndOfASourceIsTheEndOfItsFeeds) {
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(bob);
  open_feed(ann);
  node_.handle_closed(now_, ann, "gone");
  node_.end_turn(now_);
  turns(20);
  ASSERT_EQ(count_of(bob, ClientFrame::feed_end), 1u);
}

TEST_F(FeedSessions, WhatWaitsWhenASourceGoesIsDroppedSoon) {
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(bob);
  const std::string text(10'000, 'x');
  for (std::size_t i = 0; i < Feeds::kFeedsPerClient; ++i) {
    const protocol::FeedReady ready = open_feed(ann, "news", 1'000);
    ASSERT_NE(ready.feed, 0u);
    send(ann, ready.feed, spindle::as_bytes(text));
    if (i % 2 == 1) close_feed(ann, ready.feed);
  }
  node_.handle_closed(now_, ann, "gone");
  node_.end_turn(now_);
  turns(50);
  EXPECT_EQ(count_of(bob, ClientFrame::feed_end), 0u) << "what waits has a second";
  turns(150);
  EXPECT_EQ(count_of(bob, ClientFrame::feed_end), Feeds::kFeedsPerClient);
  EXPECT_EQ(node_.memory().feeds_waiting, 0u);
  turns(200);
  EXPECT_TRUE(node_.feeds().sources().all().empty());
}

TEST_F(FeedSessions, CloseWhoSendsBeyondTheRoom) {
  const ConnectionId ann = member("ann");
  const protocol::FeedReady ready = open_feed(ann);
  const std::vector<std::uint8_t> payload(protocol::kFeedMessageBytesMax, 'x');
  std::vector<std::uint8_t> frames;
  for (std::uint64_t sent = 0; sent <= ready.room + payload.size(); sent += payload.size()) {
    protocol::write_feed_send(frames, {ready.feed, payload});
  }
  read(ann, frames);
  turns();
  EXPECT_EQ(close_of(ann).code, static_cast<std::uint16_t>(Errc::flow_exceeded));
}

TEST_F(FeedSessions, CloseWhoSendsToWhatIsNotItsOwn) {
  const ConnectionId ann = member("ann"), bob = member("bob");
  const protocol::FeedReady ready = open_feed(ann);
  send(bob, ready.feed, spindle::as_bytes("hello"));
  EXPECT_EQ(close_of(bob).code, static_cast<std::uint16_t>(Errc::unknown_feed));
  close_feed(ann, ready.feed);
  EXPECT_TRUE(frames_of(ann, ClientFrame::close).empty());
  send(ann, ready.feed, spindle::as_bytes("hello"));
  EXPECT_EQ(close_of(ann).code, static_cast<std::uint16_t>(Errc::unknown_feed)) << "it has closed that itself";
}

TEST_F(FeedSessions, CloseWhoSendsNoFrames) {
  for (const ClientFrame type : {ClientFrame::feed_open, ClientFrame::feed_send, ClientFrame::feed_close,
                                 ClientFrame::listen, ClientFrame::stop_listening}) {
    const ConnectionId ann = member("ann");
    read(ann, frame_of(type, {0}));
    turns();
    EXPECT_EQ(close_of(ann).code, static_cast<std::uint16_t>(Errc::malformed_frame)) << static_cast<int>(type);
  }
  const ConnectionId ann = member("ann");
  read(ann, frame_of(ClientFrame::feed_send, std::vector<std::uint8_t>(protocol::kFeedMessageBytesMax + 11)));
  turns();
  EXPECT_EQ(close_of(ann).code, static_cast<std::uint16_t>(Errc::frame_too_large));
}

TEST_F(FeedSessions, RefuseWhatCannotBe) {
  const ConnectionId ann = member("ann");
  ask_to_open(ann, "#ann#alpha");
  EXPECT_EQ(last_reply(ann), Errc::bad_group_name);
  EXPECT_EQ(listen(ann, ClientFrame::listen, "#ann#alpha"), Errc::bad_group_name);
  for (std::size_t i = 0; i < Feeds::kFeedsPerClient; ++i) ASSERT_NE(open_feed(ann).feed, 0u);
  ask_to_open(ann);
  EXPECT_EQ(last_reply(ann), Errc::too_many_feeds);
  EXPECT_TRUE(frames_of(ann, ClientFrame::close).empty());
}

TEST_F(FeedSessions, GoByTheRules) {
  AccessConfig rules;
  rules.rules.push_back({.who = {"anyone"}, .groups = {"news"}, .allow = RightSet::all()});
  reconfigure(rules);
  const ConnectionId ann = member("ann"), bob = member("bob");
  ask_to_open(ann, "other");
  EXPECT_EQ(last_reply(ann), Errc::access_denied);
  EXPECT_EQ(listen(bob, ClientFrame::listen, "other"), Errc::access_denied);
  EXPECT_EQ(listen(bob), kDone);
  const protocol::FeedReady ready = open_feed(ann);
  ASSERT_NE(ready.feed, 0u);

  rules.rules.front().groups = {"other"};
  reconfigure(rules);
  turns(20);
  ASSERT_EQ(count_of(ann, ClientFrame::feed_end), 1u);
  EXPECT_EQ(end_of(ann), protocol::FeedEnd::denied);
  send(ann, ready.feed, spindle::as_bytes("on its way"));
  EXPECT_TRUE(frames_of(ann, ClientFrame::close).empty()) << "it did not know";
  turns(20);
  EXPECT_EQ(heard(bob), "");
  const std::vector<ByteView> refused = frames_of(bob, ClientFrame::refused);
  ASSERT_FALSE(refused.empty());
  EXPECT_EQ(protocol::read_refused(refused[0])->what, protocol::Refused::What::membership);
}

TEST_F(FeedSessions, WhatWaitsIsDroppedWhereTheRulesForbidIt) {
  AccessConfig rules;
  rules.rules.push_back({.who = {"anyone"}, .groups = {"news"}, .allow = RightSet::all()});
  reconfigure(rules);
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(bob);
  const std::string text(10'000, 'x');
  const protocol::FeedReady open = open_feed(ann, "news", 1'000), closed = open_feed(ann, "news", 1'000),
                            empty = open_feed(ann);
  send(ann, open.feed, spindle::as_bytes(text));
  send(ann, closed.feed, spindle::as_bytes(text));
  close_feed(ann, closed.feed);
  close_feed(ann, empty.feed);
  rules.rules.front().allow = {};
  rules.rules.front().allow.insert(Right::join);
  reconfigure(rules);
  const std::size_t before = heard(bob).size();
  EXPECT_LT(before, text.size());
  turns(20);
  EXPECT_EQ(heard(bob).size(), before);
  EXPECT_EQ(count_of(ann, ClientFrame::feed_end), 2u) << "of both that had something waiting";
  EXPECT_EQ(count_of(bob, ClientFrame::feed_end), 3u);
  EXPECT_TRUE(frames_of(ann, ClientFrame::close).empty());
}

TEST_F(FeedSessions, AQuotaHoldsFeedsBack) {
  AccessConfig access;
  access.quotas.push_back({.who = {"anyone"}, .limits = {.bytes_per_s = 10'000}});
  reconfigure(access);
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(bob);
  const protocol::FeedReady ready = open_feed(ann);
  const std::string payload(5000, 'x');
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < 3; ++i) protocol::write_feed_send(frames, {ready.feed, spindle::as_bytes(payload)});
  read(ann, frames);
  turns(3);
  EXPECT_LT(heard(bob).size(), 3 * payload.size());
  turns(500);
  EXPECT_EQ(heard(bob).size(), 3 * payload.size());
}

TEST_F(FeedSessions, AClientThatDoesNotReadLosesPacketsAndNothingElse) {
  const ConnectionId ann = member("ann"), bob = member("bob");
  listen(bob);
  const protocol::FeedReady ready = open_feed(ann);
  driver_.written.clear();
  const std::string payload(1000, 'x');
  std::uint64_t room = ready.room;
  std::size_t sent = 0;
  driver_.deaf_to = bob;
  while (sent < 600) {
    std::vector<std::uint8_t> frames;
    for (; room > payload.size() && sent < 600; room -= payload.size(), ++sent) {
      protocol::write_feed_send(frames, {ready.feed, spindle::as_bytes(payload)});
    }
    read(ann, frames);
    turns(3);
    for (const ByteView body : frames_of(ann, ClientFrame::feed_room)) {
      room += std::get<protocol::FeedRoom>(*protocol::read_feed_news(ClientFrame::feed_room, body)).bytes;
    }
    driver_.written[ann].clear();
  }
  turns(100);
  const NodeMemory memory = node_.memory();
  EXPECT_LE(memory.sessions_queued, Session::kFeedBytesQueued + Session::kFeedBytesWaiting + (8u << 10));
  EXPECT_EQ(count(Counter::sessions_slow), 0u);
  EXPECT_EQ(count(Counter::queue_warnings), 0u);
  driver_.deaf_to.reset();
  node_.handle_writable(now_, bob);
  turns(10);
  std::uint64_t next = 0, missing = 0;
  ByteView bytes = spindle::as_bytes(driver_.written[bob]);
  while (const auto head = spindle::read_frame_head(bytes)) {
    const auto type = static_cast<ClientFrame>(head->type);
    const auto news = protocol::read_feed_news(type, bytes.subspan(spindle::kFrameHeadBytes, head->length));
    bytes = bytes.subspan(spindle::kFrameHeadBytes + head->length);
    if (!news) continue;
    if (const auto* packet = std::get_if<protocol::FeedPacket>(&*news)) {
      EXPECT_EQ(packet->sequence, next++);
    } else if (const auto* gap = std::get_if<protocol::FeedGap>(&*news)) {
      EXPECT_EQ(gap->first, next);
      EXPECT_EQ(gap->cause, protocol::FeedGapCause::slow);
      next += gap->count;
      missing += gap->count;
    }
  }
  EXPECT_GE(next, sent);
  EXPECT_GT(missing, 100u);
  EXPECT_TRUE(frames_of(bob, ClientFrame::close).empty());
}

}  // namespace
}  // namespace spindled::test
