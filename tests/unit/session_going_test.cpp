// A daemon that stops, and clients that can go elsewhere.
#include <gmock/gmock.h>

#include "tests/unit/sessions_harness.h"

namespace spindled::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SessionGoing : public SessionsTest {
 protected:
  /// One who has joined "news", its destination set 0.
  ConnectionId connect(std::string_view name, bool moves, bool is_resumable = false) {
    settle();
    Peer peer("a client");
    peer.may_come_back = true;
    const ConnectionId connection = accept(peer);
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = name, .is_resumable = is_resumable, .moves = moves});
    protocol::write_define(frames, {0, {"news"}});
    protocol::write_group_request(frames, ClientFrame::join, {1, "news"});
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    return connection;
  }
  void stop() {
    until_ = node_.stop(now_);
    node_.end_turn(now_);
  }
  void reconfigure_going(Duration time) {
    NodeConfig next = config();
    next.session.going_time = time;
    node_.reconfigure(now_, next);
  }
  void say_bye(ConnectionId connection) {
    std::vector<std::uint8_t> frames;
    protocol::write_bye(frames);
    read(connection, frames);
    turn();
    turn();
  }
  std::vector<std::uint32_t> told_going(ConnectionId connection) {
    std::vector<std::uint32_t> told;
    for (const ByteView body : frames_of(connection, ClientFrame::going)) told.push_back(*protocol::read_going(body));
    return told;
  }
  bool is_told_to_end(ConnectionId connection) { return !frames_of(connection, ClientFrame::close).empty(); }
  Errc end_of(ConnectionId connection) { return static_cast<Errc>(close_of(connection).code); }

  Time until_{};
};

TEST_F(SessionGoing, WaitsForClientsThatMove) {
  const ConnectionId mover = connect("mover", true), plain = connect("plain", false);
  stop();
  EXPECT_EQ(until_, now_ + 2s);
  EXPECT_THAT(told_going(mover), ElementsAre(2000u));
  EXPECT_THAT(told_going(plain), IsEmpty());
  const ConnectionId late = accept();
  turn();
  EXPECT_EQ(end_of(late), Errc::daemon_stopping);
  EXPECT_FALSE(is_told_to_end(mover));
  EXPECT_FALSE(is_told_to_end(plain));

  std::vector<std::uint8_t> frames;
  write_typed(frames, 7, 10);
  protocol::write_confirm(frames, 1);
  protocol::write_bye(frames);
  read(mover, frames);
  turn();
  turn();
  EXPECT_EQ(got(plain).size(), 1u) << "what it has sent enters";
  EXPECT_EQ(confirmed(mover).size(), 1u);
  EXPECT_EQ(end_of(mover), Errc::closed_by_client);
  EXPECT_EQ(end_of(plain), Errc::daemon_stopping) << "nobody is waited for any more";
  EXPECT_TRUE(node_.is_stopped());
}

TEST_F(SessionGoing, WaitsForTheLastOfThem) {
  const ConnectionId first = connect("first", true), second = connect("second", true);
  stop();
  say_bye(first);
  EXPECT_FALSE(is_told_to_end(second));
  EXPECT_FALSE(node_.is_stopped());
  node_.handle_closed(now_, second, "connection reset by peer");
  turn();
  turn();
  EXPECT_TRUE(node_.is_stopped()) << "who is gone without a word is gone, too";
}

TEST_F(SessionGoing, WaitsForNobodyLongerThanTheGrace) {
  const ConnectionId mover = connect("mover", true), plain = connect("plain", false);
  stop();
  while (now_ + 10ms < until_) turn();
  EXPECT_FALSE(is_told_to_end(mover));
  EXPECT_FALSE(is_told_to_end(plain));
  turn();
  turn();
  EXPECT_EQ(end_of(mover), Errc::daemon_stopping);
  EXPECT_EQ(end_of(plain), Errc::daemon_stopping);
  EXPECT_TRUE(node_.is_stopped());
}

TEST_F(SessionGoing, WakesItselfAtTheEndOfTheGrace) {
  connect("mover", true);
  stop();
  EXPECT_LE(driver_.wakes_at, until_);
}

TEST_F(SessionGoing, StopsAtOnceWithoutThem) {
  const ConnectionId plain = connect("plain", false), returning = connect("returning", false, true);
  stop();
  EXPECT_EQ(until_, now_);
  EXPECT_EQ(end_of(plain), Errc::daemon_stopping);
  EXPECT_EQ(end_of(returning), Errc::daemon_stopping);
  EXPECT_TRUE(node_.is_stopped());
}

TEST_F(SessionGoing, StopsAtOnceWhereItIsTurnedOff) {
  reconfigure_going(0ms);
  const ConnectionId mover = connect("mover", true);
  stop();
  EXPECT_EQ(until_, now_);
  EXPECT_THAT(told_going(mover), IsEmpty());
  EXPECT_EQ(end_of(mover), Errc::daemon_stopping);
  EXPECT_TRUE(node_.is_stopped());
}

TEST_F(SessionGoing, DoesNotWaitForThoseWhoAreAway) {
  const ConnectionId away = connect("away", true, true), half = accept();
  node_.handle_closed(now_, away, "connection reset by peer");
  turn();
  ASSERT_EQ(count(Counter::sessions_detached), 1u);
  stop();
  EXPECT_EQ(until_, now_);
  EXPECT_EQ(end_of(half), Errc::daemon_stopping) << "no client yet";
  turn();
  EXPECT_TRUE(node_.is_stopped());
}

TEST_F(SessionGoing, KeepsNoSessionWhoseConnectionIsLostMeanwhile) {
  const ConnectionId lost = connect("lost", true, true), other = connect("other", true);
  stop();
  node_.handle_closed(now_, lost, "connection reset by peer");
  turn();
  EXPECT_EQ(count(Counter::sessions_detached), 0u);
  EXPECT_FALSE(is_told_to_end(other));
  say_bye(other);
  EXPECT_TRUE(node_.is_stopped());
}

TEST_F(SessionGoing, OvertakesWhatWaitsForTheClient) {
  const ConnectionId mover = connect("mover", true);
  driver_.deaf = true;
  std::vector<std::uint8_t> frames;
  write_typed(frames, 7, 10);
  read(mover, frames);
  turn();
  stop();
  driver_.deaf = false;
  const std::string before = driver_.written[mover];
  node_.handle_writable(now_, mover);
  turn();
  const std::string after = driver_.written[mover].substr(before.size());
  const auto head = spindle::read_frame_head(spindle::as_bytes(after));
  ASSERT_TRUE(head);
  EXPECT_EQ(static_cast<ClientFrame>(head->type), ClientFrame::going);
  EXPECT_EQ(got(mover).size(), 1u);
}

}  // namespace
}  // namespace spindled::test
