// The table of clients, within a whole daemon that is alone in its view.
#include "daemon/session/sessions.h"

#include "libclient/bulk/bulk_frames.h"
#include "tests/unit/sessions_harness.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;
using test::SessionsTest;

TEST_F(SessionsTest, OneWhoseLastWordsWaitWhenItsConnectionEndsIsCountedOnce) {
  const ConnectionId slow = open_member("bob");
  driver_.deaf = true;
  const ConnectionId connection = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.name = "ann"});
  protocol::write_define(frames, {0, {"news"}});
  write_message(frames, 30'000);
  write_message(frames, 30'000);
  read(connection, frames);
  turn();
  // What feeds the queue from now on has its price.
  frames.clear();
  write_message(frames, 100);
  read(connection, frames);
  for (int i = 0; i < 10; ++i) turn();
  frames.clear();
  write_message(frames, 0);  // a new flow may send one
  read(connection, frames);
  turn();
  ASSERT_EQ(count(Counter::messages_blocked), 0u);
  frames.clear();
  write_message(frames, 0);
  protocol::write_bye(frames);
  read(connection, frames);
  turn();
  ASSERT_EQ(count(Counter::messages_blocked), 1u) << "it waits for bob, and the goodbye behind it";
  const std::uint64_t sent = count(Counter::messages_sent);
  node_.handle_closed(now_, slow, "reset");
  node_.end_turn(now_);
  ASSERT_EQ(count(Counter::sessions_closed), 1u);
  driver_.log.clear();

  node_.handle_closed(now_, connection, "reset");
  turn();
  EXPECT_EQ(count(Counter::messages_sent), sent + 1) << "what it sent counts";
  EXPECT_EQ(count(Counter::sessions_closed), 2u);
  EXPECT_EQ(closes(Errc::connection_lost), 2u);
  EXPECT_EQ(closes(Errc::closed_by_client), 0u);
  EXPECT_EQ(logged("client ann from a client"), 1u);
  EXPECT_FALSE(driver_.closed.contains(connection)) << "it is closed already";
}

TEST_F(SessionsTest, AnAttachmentTakesASessionsPlaceUntilItsFirstFrameIsWhole) {
  settle();
  spindle::bulk::BulkBytes attach;
  spindle::bulk::write_attach(attach, {});
  const ByteView whole(attach);
  std::vector<ConnectionId> half;
  for (std::size_t i = 0; i < kSessionsMax; ++i) {
    half.push_back(accept());
    read(half.back(), whole.first(whole.size() - 1));
  }
  turn();
  const ConnectionId refused = accept();
  turn();
  EXPECT_TRUE(driver_.closed.contains(refused));
  EXPECT_EQ(closes(Errc::too_many_sessions), 1u);
  read(half.back(), whole.last(1));
  turn();
  EXPECT_TRUE(driver_.closed.contains(half.back())) << "its token is of no session";
  EXPECT_EQ(closes(Errc::handshake_timeout), 0u);
  const ConnectionId next = accept();
  std::vector<std::uint8_t> long_one(spindle::kFrameHeadBytes);
  spindle::Writer writer(long_one.data());
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(spindle::bulk::BulkFrame::attach), 100'000);
  read(next, long_one);
  turn();
  EXPECT_TRUE(driver_.closed.contains(next)) << "nothing of such a length is waited for";
  for (Time end = now_ + config().session.handshake_timeout + 1s; now_ < end;) turn();
  EXPECT_EQ(closes(Errc::handshake_timeout), kSessionsMax - 1);
}

TEST_F(SessionsTest, RefusedOnesAreToldWhyAndTakeNobodysPlace) {
  settle();
  std::vector<ConnectionId> welcome;
  for (std::size_t i = 0; i < kSessionsMax; ++i) welcome.push_back(accept());
  const ConnectionId refused = accept();
  turn();
  EXPECT_TRUE(driver_.closed.contains(refused));
  EXPECT_FALSE(driver_.written[refused].empty());
  EXPECT_EQ(count(Counter::sessions_refused), 1u);
  EXPECT_EQ(closes(Errc::too_many_sessions), 1u);

  // Those that do not read why they were refused linger, and there is a place for another all the same.
  driver_.deaf = true;
  const ConnectionId lingering = accept();
  turn();
  ASSERT_FALSE(driver_.closed.contains(lingering));
  node_.handle_closed(now_, welcome.back(), "reset");
  turn();
  const ConnectionId next = accept();
  turn();
  EXPECT_EQ(closes(Errc::too_many_sessions), 2u);
  EXPECT_FALSE(driver_.closed.contains(next));
  const ConnectionId one_too_many = accept();
  turn();
  EXPECT_EQ(closes(Errc::too_many_sessions), 3u);
  for (int i = 0; i < 300; ++i) turn();
  EXPECT_TRUE(driver_.closed.contains(lingering));
  EXPECT_TRUE(driver_.closed.contains(one_too_many));
  EXPECT_FALSE(driver_.closed.contains(next));
}

TEST_F(SessionsTest, OneThatDefinesTooMuchIsToldTheLimitAndWhatToDo) {
  settle();
  const ConnectionId connection = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.name = "ann"});
  read(connection, frames);
  turn();
  const std::string longest(spindle::kGroupNameBytesMax, 'g');
  const std::vector<std::string_view> names(spindle::kGroupsPerMessageMax, longest);
  const std::size_t sets = protocol::kDefinedBytesMax / protocol::defined_bytes(names);
  const auto define = [&](std::size_t handle, const std::vector<std::string_view>& groups) {
    frames.clear();
    protocol::write_define(frames, {static_cast<std::uint32_t>(handle), groups});
    read(connection, frames);
    turn();
  };
  for (std::size_t handle = 0; handle < sets; ++handle) define(handle, names);
  define(0, {});  // makes room for another
  define(sets, names);
  ASSERT_FALSE(driver_.closed.contains(connection));
  define(0, names);
  EXPECT_TRUE(driver_.closed.contains(connection));
  EXPECT_EQ(closes(Errc::limit_exceeded), 1u);
  EXPECT_NE(driver_.written[connection].find("would take 16907000 bytes, of which it has 16777216"), std::string::npos);
  EXPECT_NE(driver_.written[connection].find("define sets anew, or without names"), std::string::npos);
}

TEST_F(SessionsTest, ANumberThatWasGivenUpStandsForNothing) {
  settle();
  const ConnectionId connection = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.name = "ann"});
  protocol::write_define(frames, {0, {"news"}});
  write_message(frames, 10);
  protocol::write_define(frames, {0, {}});
  protocol::write_define(frames, {0, {"other news"}});
  write_message(frames, 10);
  read(connection, frames);
  turn();
  EXPECT_EQ(count(Counter::messages_sent), 2u);
  ASSERT_FALSE(driver_.closed.contains(connection));
  frames.clear();
  protocol::write_define(frames, {0, {}});
  write_message(frames, 10);
  read(connection, frames);
  turn();
  EXPECT_TRUE(driver_.closed.contains(connection));
  EXPECT_EQ(closes(Errc::malformed_frame), 1u);
  EXPECT_NE(driver_.written[connection].find("destination set 0 is not defined"), std::string::npos);
}

using Got = std::vector<std::pair<std::uint16_t, std::size_t>>;

TEST_F(SessionsTest, SmallMessagesThatComeTogetherAreBundled) {
  const ConnectionId ann = open_member();
  std::vector<std::uint8_t> frames;
  Got expected;
  for (const std::size_t bytes : {100u, 0u, 200u, 1u}) {
    write_typed(frames, static_cast<std::uint16_t>(0x100 + expected.size()), bytes);
    expected.emplace_back(0x100 + expected.size(), bytes);
  }
  read(ann, frames);
  turn();
  EXPECT_EQ(got(ann), expected);
  EXPECT_EQ(count(Counter::messages_sent), 4u);
  EXPECT_EQ(count(Counter::messages_bundled), 4u);
  EXPECT_EQ(count(Counter::messages_delivered), 4u);
  EXPECT_EQ(count(Counter::bytes_delivered), 301u);
}

TEST_F(SessionsTest, ABundleTakesWhatFitsIntoAPacket) {
  const ConnectionId ann = open_member();
  std::vector<std::uint8_t> frames;
  Got expected;
  const std::size_t fit = kBundleWeightMax / bundle_weight(100, 0);
  for (std::uint16_t type = 0; type < fit + 1; ++type) {
    write_typed(frames, type, 100);
    expected.emplace_back(type, 100);
  }
  read(ann, frames);
  turn();
  EXPECT_EQ(count(Counter::messages_bundled), fit) << "all but the last";
  // Large ones keep their place between small ones.
  frames.clear();
  for (const std::size_t bytes : {10u, 20'000u, 10u, 20u, 30u, 1299u, 10u}) {
    write_typed(frames, 7, bytes);
    expected.emplace_back(7, bytes);
  }
  read(ann, frames);
  turn();
  EXPECT_EQ(count(Counter::messages_bundled), fit + 3);
  EXPECT_EQ(got(ann), expected);
}

TEST_F(SessionsTest, OnlyWhatGoesTheSameWayIsBundled) {
  const ConnectionId ann = open_member();
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {1, {"news", "other news"}});
  write_typed(frames, 1, 10);
  write_typed(frames, 2, 10, spindle::Service::safe);
  write_typed(frames, 3, 10);
  write_typed(frames, 4, 10, spindle::Service::agreed, 0, true);
  write_typed(frames, 5, 10);
  write_typed(frames, 6, 10, spindle::Service::agreed, 1);
  protocol::write_ping(frames, ClientFrame::ping, 1);
  write_typed(frames, 7, 10, spindle::Service::agreed, 1);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(got(ann), (Got{{1, 10}, {2, 10}, {3, 10}, {5, 10}, {6, 10}, {7, 10}}));
  EXPECT_EQ(count(Counter::messages_sent), 7u);
  EXPECT_EQ(count(Counter::messages_bundled), 0u);
}

TEST_F(SessionsTest, NothingWaitsForAMessageThatHasNotCome) {
  const ConnectionId ann = open_member();
  std::vector<std::uint8_t> frames;
  for (std::uint16_t type = 1; type <= 3; ++type) write_typed(frames, type, 10);
  const std::size_t cut = frames.size() - 5;
  read(ann, ByteView(frames).first(cut));
  turn();
  EXPECT_EQ(got(ann), (Got{{1, 10}, {2, 10}}));
  read(ann, ByteView(frames).subspan(cut));
  turn();
  EXPECT_EQ(got(ann), (Got{{1, 10}, {2, 10}, {3, 10}}));
  EXPECT_EQ(count(Counter::messages_bundled), 2u);
}

TEST_F(SessionsTest, WithLongNamesABundleHasFewMessages) {
  const ConnectionId bob = open_member("bob");
  const ConnectionId ann = open_member();
  // At bob each of these has all the names.
  std::vector<std::string> names{"news"};
  for (int i = 0; i < 3; ++i) names.emplace_back(250, static_cast<char>('a' + i));
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {1, {names.begin(), names.end()}});
  constexpr int kMessages = 20;
  for (int i = 0; i < kMessages; ++i) write_typed(frames, 1, 0, spindle::Service::agreed, 1);
  read(ann, frames);
  turn();
  EXPECT_EQ(got(bob), Got(kMessages, {1, 0}));
  const std::size_t weight = bundle_weight(0, 1 + 10 + 5 + 3 * 251);
  const std::size_t together = kBundleWeightMax / weight;
  ASSERT_EQ(together, 3u);
  EXPECT_EQ(count(Counter::messages_bundled), kMessages) << "six of three, and one of two";
  frames.clear();
  names.resize(1);
  for (int i = 0; i < 12; ++i) names.emplace_back(250, static_cast<char>('a' + i));
  protocol::write_define(frames, {1, {names.begin(), names.end()}});
  for (int i = 0; i < kMessages; ++i) write_typed(frames, 1, 0, spindle::Service::agreed, 1);
  read(ann, frames);
  turn();
  EXPECT_EQ(got(bob), Got(2 * kMessages, {1, 0}));
  EXPECT_EQ(count(Counter::messages_bundled), kMessages) << "no two of these";
}

TEST_F(SessionsTest, ABundleThatMayNotEnterYetEntersLater) {
  const ConnectionId bob = open_member("bob");
  const ConnectionId ann = open_member(), eve = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.flags = protocol::kIndependentFlowsBit, .name = "eve"});
  protocol::write_define(frames, {0, {"news"}});
  read(eve, frames);
  driver_.deaf = true;
  for (const std::size_t bytes : {30'000u, 100u}) {
    frames.clear();
    if (bytes > 100) write_typed(frames, 0, bytes, spindle::Service::agreed, 0, true);
    write_typed(frames, 0, bytes, spindle::Service::agreed, 0, true);
    read(ann, frames);
    for (int i = 0; i < 10; ++i) turn();
  }
  for (const ConnectionId sender : {ann, eve}) {  // a new flow may send one
    frames.clear();
    write_typed(frames, 0, 100, spindle::Service::agreed, 0, true);
    read(sender, frames);
    turn();
  }
  const std::uint64_t before = count(Counter::messages_sent);
  ASSERT_EQ(before, 5u);
  for (const ConnectionId sender : {ann, eve}) {
    frames.clear();
    write_typed(frames, 1, 10);
    write_typed(frames, 2, 0);
    read(sender, frames);
    turn();
    frames.clear();
    write_typed(frames, 3, 20);
    write_typed(frames, 4, 0, spindle::Service::fifo);
    write_typed(frames, 5, 30, spindle::Service::fifo);
    read(sender, frames);
    turn();
  }
  ASSERT_EQ(count(Counter::messages_sent), before) << "they wait for bob, who does not read";
  driver_.deaf = false;
  for (const ConnectionId reader : {bob, ann}) node_.handle_writable(now_, reader);
  for (int i = 0; i < 1000 && count(Counter::messages_sent) < before + 10; ++i) turn();
  turn();
  Got all = got(bob);
  EXPECT_EQ(all.size(), before + 10);
  all.erase(all.begin(), all.begin() + 5);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Got{{1, 10}, {1, 10}, {2, 0}, {2, 0}, {3, 20}, {3, 20}, {4, 0}, {4, 0}, {5, 30}, {5, 30}}));
  EXPECT_EQ(count(Counter::messages_bundled), 10u) << "what came later went along with what waited";
}

TEST_F(SessionsTest, WhatCameBeforeAMalformedMessageIsSent) {
  const ConnectionId ann = open_member();
  const ConnectionId bob = open_member("bob");
  std::vector<std::uint8_t> frames;
  write_typed(frames, 1, 10);
  write_typed(frames, 2, 10);
  const std::size_t third = frames.size();
  write_typed(frames, 3, 10);
  frames[third + spindle::kFrameHeadBytes + 1] = 7;  // no such service
  read(ann, frames);
  turn();
  EXPECT_EQ(got(bob), (Got{{1, 10}, {2, 10}}));
  EXPECT_EQ(closes(Errc::malformed_frame), 1u);
}

TEST_F(SessionsTest, RefusedOnesThatDoNotReadAreBounded) {
  settle();
  for (std::size_t i = 0; i < kSessionsMax; ++i) accept();
  turn();
  driver_.deaf = true;
  constexpr std::size_t kCrowd = 10'000;
  for (std::size_t i = 0; i < kCrowd; ++i) {
    accept();
    if (i % 100 == 0) node_.end_turn(now_);
  }
  EXPECT_GE(driver_.closed.size(), kCrowd - 100) << "of those that may linger, and no more";
  EXPECT_LT(driver_.closed.size(), kCrowd) << "a few may";
  EXPECT_EQ(closes(Errc::too_many_sessions), kCrowd);
  for (int i = 0; i < 300; ++i) turn();
  EXPECT_EQ(driver_.closed.size(), kCrowd);
}

TEST_F(SessionsTest, ATurnWritesOnlySoMuchAndTheRestFollows) {
  constexpr std::size_t kPerTurn = 8u << 20, kMessages = 160, kBytes = 30'000;
  const std::vector<ConnectionId> members = {open_member("ann"), open_member("bob"), open_member("cy")};
  std::vector<std::uint8_t> frames;
  for (std::size_t i = 0; i < kMessages; ++i) write_message(frames, kBytes);
  const auto written = [&] {
    std::size_t bytes = 0;
    for (const ConnectionId member : members) bytes += driver_.written[member].size();
    return bytes;
  };
  const std::size_t before = written();
  read(members[0], frames);
  node_.end_turn(now_);
  const std::size_t first = written() - before;
  EXPECT_GE(first, kPerTurn);
  EXPECT_LT(first, members.size() * kMessages * kBytes) << "not everything at once";
  for (const ConnectionId member : members) EXPECT_FALSE(driver_.written[member].empty()) << "each has a share";
  EXPECT_LE(driver_.wakes_at, now_) << "the rest does not wait for anything";
  for (int i = 0; i < 10; ++i) turn();
  for (const ConnectionId member : members) EXPECT_EQ(got(member).size(), kMessages);
}

TEST_F(SessionsTest, WhoIsToGetLittleDoesNotWaitForWhoIsToGetMuch) {
  const ConnectionId ann = open_member("ann");
  open_member("bob");
  const ConnectionId cy = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.name = "cy"});
  read(cy, frames);
  frames.clear();
  protocol::write_define(frames, {1, {"#cy#alpha"}});
  for (std::size_t i = 0; i < 160; ++i) write_message(frames, 30'000);
  write_typed(frames, 1, 10, spindle::Service::agreed, 1);
  read(ann, frames);
  node_.end_turn(now_);
  ASSERT_LE(driver_.wakes_at, now_) << "much is left";
  EXPECT_EQ(got(cy), (Got{{1, 10}}));
}

TEST_F(SessionsTest, WhoAsksIsToldWhatHasEnteredWhileTheRestWaits) {
  const ConnectionId slow = open_member("bob");
  driver_.deaf = true;
  const ConnectionId connection = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.flags = protocol::kTellTakenBit, .name = "ann"});
  protocol::write_define(frames, {0, {"news"}});
  read(connection, frames);
  // Bob does not read, and his queue gets its price: in the end the network takes no more.
  const std::size_t sent = 200;
  frames.clear();
  for (std::size_t i = 0; i < sent; ++i) write_message(frames, 2'000);
  protocol::write_bye(frames);
  for (std::size_t at = 0; at < frames.size(); at += 4'000) {
    read(connection, ByteView(frames).subspan(at, std::min<std::size_t>(4'000, frames.size() - at)));
    turn();
  }
  for (int i = 0; i < 50; ++i) turn();
  const std::uint64_t entered = count(Counter::messages_sent);
  ASSERT_GT(entered, 0u);
  ASSERT_LT(entered, sent);
  driver_.deaf = false;
  node_.handle_writable(now_, connection);
  turn();
  EXPECT_EQ(told_taken(connection), entered);
  // Bob is gone, so that all enter, and ann's goodbye behind them.
  node_.handle_closed(now_, slow, "reset");
  for (int i = 0; i < 100 && !driver_.closed.contains(connection); ++i) turn();
  EXPECT_EQ(close_of(connection).taken, sent);
}

using Confirmed = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

TEST_F(SessionsTest, ConfirmsWhatHasEntered) {
  const ConnectionId connection = open_member();
  std::vector<std::uint8_t> frames;
  protocol::write_confirm(frames, 7);
  for (int i = 0; i < 3; ++i) write_message(frames, 1);
  protocol::write_confirm(frames, 8);
  protocol::write_confirm(frames, 9);
  read(connection, frames);
  turn();
  EXPECT_EQ(confirmed(connection), (Confirmed{{7, 0}, {8, 3}, {9, 3}}));
}

/// Bob does not read, and ann sends him more than the network takes. Eve, with independent flows, may send to others.
class Congested : public SessionsTest {
 protected:
  static constexpr std::size_t kSent = 200;

  Congested() {
    bob_ = open_member("bob");
    driver_.deaf = true;
    ann_ = accept();
    eve_ = accept();
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = "ann"});
    protocol::write_define(frames, {0, {"news"}});
    read(ann_, frames);
    frames.clear();
    protocol::write_hello(frames, {.flags = protocol::kIndependentFlowsBit, .name = "eve"});
    protocol::write_define(frames, {0, {"news"}});
    protocol::write_define(frames, {1, {"elsewhere"}});
    read(eve_, frames);
    for (std::size_t i = 0; i < kSent; ++i) send(ann_, 0);
  }
  void send(ConnectionId from, std::uint32_t handle) {
    std::vector<std::uint8_t> frames;
    write_typed(frames, 0, 2'000, spindle::Service::agreed, handle);
    read(from, frames);
    turn();
  }
  void confirm(ConnectionId from, std::uint32_t request) {
    std::vector<std::uint8_t> frames;
    protocol::write_confirm(frames, request);
    read(from, frames);
    turn();
  }
  /// What these have been told by now. Bob has read nothing.
  void flush(std::initializer_list<ConnectionId> of) {
    driver_.deaf = false;
    for (const ConnectionId each : of) node_.handle_writable(now_, each);
    driver_.deaf = true;
  }
  void let_all_in() {
    driver_.deaf = false;
    node_.handle_closed(now_, bob_, "reset");
    for (int i = 0; i < 100; ++i) turn();
    for (const ConnectionId each : {ann_, eve_}) node_.handle_writable(now_, each);
  }

  ConnectionId bob_, ann_, eve_;
};

TEST_F(Congested, ConfirmsOnlyOnceAllHasEntered) {
  for (int i = 0; i < 3; ++i) send(eve_, 0);
  for (const ConnectionId sender : {ann_, eve_}) confirm(sender, 5);
  send(eve_, 1);
  confirm(eve_, 6);
  ASSERT_LT(count(Counter::messages_sent), kSent);
  flush({ann_, eve_});
  EXPECT_EQ(confirmed(ann_), Confirmed());
  EXPECT_EQ(confirmed(eve_), Confirmed()) << "one flow goes on, another does not";
  let_all_in();
  EXPECT_EQ(confirmed(ann_), (Confirmed{{5, kSent}}));
  EXPECT_EQ(confirmed(eve_), (Confirmed{{5, 4}, {6, 4}}));
}

TEST_F(Congested, ReadsNothingBehindTooManyThatWaitToBeConfirmed) {
  for (int i = 0; i < 3; ++i) send(eve_, 0);
  const std::uint64_t before = count(Counter::messages_sent);
  const std::uint32_t asked = 100;
  std::vector<std::uint8_t> frames;
  for (std::uint32_t i = 0; i < asked; ++i) protocol::write_confirm(frames, i);
  write_typed(frames, 0, 10, spindle::Service::agreed, 1);
  read(eve_, frames);
  EXPECT_EQ(count(Counter::messages_sent), before) << "what follows is not read";
  let_all_in();
  EXPECT_EQ(confirmed(eve_).size(), asked);
  EXPECT_EQ(count(Counter::messages_sent), kSent + 4);
}

TEST_F(SessionsTest, WhoDoesNotAskIsNotToldButInTheEnd) {
  const ConnectionId connection = open_member();
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < 3000; ++i) write_message(frames, 1);
  read(connection, frames);
  turn();
  protocol::write_bye(frames = {});
  read(connection, frames);
  turn();
  EXPECT_EQ(told_taken(connection), std::nullopt);
  EXPECT_EQ(close_of(connection).taken, 3000u);
}

using Bytes = std::vector<std::uint8_t>;
using test::frame_of;

Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The first piece of a message of 40,000 bytes.
Bytes first_piece() {
  const Bytes piece(spindle::kChunkBytesMax, 'x');
  Bytes frame;
  spindle::test::append_send_frame(frame, {0, 4, false, 0, 40'000, piece});
  return frame;
}
Bytes further_piece(std::size_t bytes) { return frame_of(ClientFrame::send_more, Bytes(bytes, 'x')); }

// docs/wire-format.md, "What is answered, and what closes the connection" and "Messages in pieces".
TEST_F(SessionsTest, WhatIsNotAcceptedClosesTheConnectionWithTheCodeOnThePage) {
  Bytes hello, other_magic, none_in_common, no_name, join, define, bye, undefined, long_handle;
  protocol::write_hello(hello, {.name = "ann"});
  protocol::write_hello(other_magic, {.name = "ann"});
  other_magic[4] = 'X';
  protocol::write_hello(none_in_common, {.version_min = 2, .version_max = 3, .name = "ann"});
  protocol::write_hello(no_name, {.name = "a b"});
  protocol::write_group_request(join, ClientFrame::join, {1, "news"});
  protocol::write_define(define, {0, {"news"}});
  protocol::write_bye(bye);
  spindle::test::append_send_frame(undefined, {7, 4, false, 0, 0, {}});
  protocol::write_define(long_handle, {protocol::kHandlesMax, {"news"}});
  Bytes reserved_flag = hello, service = first_piece(), reserved_bit = first_piece();
  reserved_flag[spindle::kFrameHeadBytes + 8] = 0x10;
  service[spindle::kFrameHeadBytes + 1] = 6;
  reserved_bit[spindle::kFrameHeadBytes + 1] = 0x14;
  const Bytes open = hello + define;
  const std::pair<Bytes, Errc> rows[] = {
      {join, Errc::unexpected_frame},
      {hello + hello, Errc::unexpected_frame},
      {other_magic, Errc::malformed_frame},
      {reserved_flag, Errc::malformed_frame},
      {none_in_common, Errc::version_mismatch},
      {no_name, Errc::bad_client_name},
      {open + service, Errc::malformed_frame},
      {open + reserved_bit, Errc::malformed_frame},
      {open + undefined, Errc::malformed_frame},
      {open + frame_of(ClientFrame::flow_request, {1, 7}), Errc::malformed_frame},
      {open + long_handle, Errc::malformed_frame},
      {open + frame_of(ClientFrame::join, {1, 4, 'n'}), Errc::malformed_frame},
      {open + frame_of(ClientFrame::join, {0xff, 0xff, 0xff, 0xff, 0x1f, 1, 'g'}), Errc::malformed_frame},
      {open + frame_of(ClientFrame::join, Bytes(513)), Errc::frame_too_large},
      {open + frame_of(ClientFrame::send, Bytes(spindle::kChunkBytesMax + 65)), Errc::frame_too_large},
      {frame_of(ClientFrame::hello, Bytes(1025)), Errc::frame_too_large},
      {open + frame_of(ClientFrame::message, {}), Errc::unexpected_frame},
      {open + frame_of(ClientFrame{200}, {}), Errc::unexpected_frame},
      {open + further_piece(1), Errc::unexpected_frame},
      {open + first_piece() + first_piece(), Errc::unexpected_frame},
      {open + first_piece() + define, Errc::unexpected_frame},
      {open + first_piece() + further_piece(100), Errc::malformed_frame},
      {open + first_piece() + further_piece(0), Errc::malformed_frame},
      {open + first_piece() + bye, Errc::closed_by_client},
  };
  settle();
  for (const auto& [bytes, code] : rows) {
    const ConnectionId connection = accept();
    read(connection, bytes);
    turn();
    EXPECT_EQ(close_of(connection).code, static_cast<std::uint16_t>(code)) << &bytes - &rows[0].first;
    EXPECT_EQ(close_of(connection).taken, 0u);
    EXPECT_TRUE(driver_.closed.contains(connection));
  }
}

TEST_F(SessionsTest, WhatIsRefusedIsAnsweredAndOtherFramesMayStandBetweenThePieces) {
  const ConnectionId connection = open_member();
  Bytes frames = first_piece();
  protocol::write_define(frames, {1, {"news", "news"}});
  for (const auto& [type, group] : {std::pair{ClientFrame::join, "news"}, std::pair{ClientFrame::join, "#bad"},
                                    std::pair{ClientFrame::leave, "other"},
                                    std::pair{ClientFrame::view_request, "other"}, std::pair{ClientFrame::join, ""}}) {
    protocol::write_group_request(frames, type, {UINT32_MAX, group});
  }
  protocol::write_ping(frames, ClientFrame::ping, 1);
  frames = frames + further_piece(40'000 - spindle::kChunkBytesMax);
  write_typed(frames, 5, 3, spindle::Service::agreed, 1);
  read(connection, frames);
  for (int i = 0; i < 3; ++i) turn();
  std::vector<Errc> codes;
  for (const ByteView body : frames_of(connection, ClientFrame::reply)) {
    const auto reply = protocol::read_reply(body);
    if (reply->request == UINT32_MAX) codes.push_back(Errc{reply->code});
  }
  EXPECT_EQ(codes, (std::vector{Errc::already_a_member, Errc::bad_group_name, Errc::not_a_member, Errc::not_a_member,
                                Errc::bad_group_name}));
  EXPECT_EQ(frames_of(connection, ClientFrame::pong).size(), 1u);
  const std::vector<ByteView> messages = frames_of(connection, ClientFrame::message);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(protocol::read_message(messages[0])->total, 40'000u);
  EXPECT_EQ(protocol::read_message(messages[1])->groups.size(), 2u) << "names are as the sender gave them";
}

}  // namespace
}  // namespace spindled
