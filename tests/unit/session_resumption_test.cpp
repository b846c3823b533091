// Clients that come back on another connection.
#include "daemon/session/resumption.h"

#include "daemon/group/flushes.h"
#include "tests/unit/sessions_harness.h"

namespace spindled::test {
namespace {

struct Options {
  std::string_view name = "ann";
  std::vector<std::string> identities = {};
  bool may_come_back = true;
  bool is_resumable = true;
  std::optional<protocol::Resume> resume = {};
  std::uint32_t keepalive_ms = 0;
};

class SessionResumption : public SessionsTest {
 protected:
  ConnectionId connect(const Options& options) {
    settle();
    Peer peer("a client", options.identities);
    peer.may_come_back = options.may_come_back;
    const ConnectionId connection = accept(peer);
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = options.name,
                                   .is_resumable = options.is_resumable,
                                   .resume = options.resume,
                                   .keepalive_ms = options.keepalive_ms});
    read(connection, frames);
    turn();
    return connection;
  }
  /// One who has joined "news", its destination set 0.
  ConnectionId connect_member(const Options& options = {}) {
    const ConnectionId connection = connect(options);
    std::vector<std::uint8_t> frames;
    protocol::write_define(frames, {0, {"news"}});
    protocol::write_group_request(frames, ClientFrame::join, {1, "news"});
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    return connection;
  }
  std::optional<protocol::Welcome> welcome_of(ConnectionId connection) {
    const std::vector<ByteView> welcomes = frames_of(connection, ClientFrame::welcome);
    return welcomes.empty() ? std::nullopt : protocol::read_welcome(welcomes.front());
  }
  /// Frames that have come behind the welcome.
  std::uint64_t frames_got(ConnectionId connection) {
    std::uint64_t count = 0;
    ByteView bytes = spindle::as_bytes(driver_.written[connection]);
    while (const auto head = spindle::read_frame_head(bytes)) {
      if (static_cast<ClientFrame>(head->type) != ClientFrame::welcome) ++count;
      bytes = bytes.subspan(spindle::kFrameHeadBytes + head->length);
    }
    return count;
  }
  protocol::Resume resume_of(ConnectionId connection) {
    return {welcome_of(connection)->resumable->key, frames_got(connection)};
  }
  void lose(ConnectionId connection) {
    node_.handle_closed(now_, connection, "connection reset by peer");
    turn();
  }
  void send(ConnectionId connection, std::uint16_t type) {
    std::vector<std::uint8_t> frames;
    write_typed(frames, type, 10);
    read(connection, frames);
    turn();
  }
  void wait(Duration duration) {
    for (const Time end = now_ + duration; now_ < end;) turn();
  }
  /// A client wants its session back in a turn in which `busy` has had all that there is.
  ConnectionId come_back_when_nothing_is_left(const protocol::Resume& resume, ConnectionId busy) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < spindle::kGroupsPerMessageMax; ++i) names.push_back("group " + std::to_string(i));
    std::vector<std::uint8_t> frames;
    protocol::write_define(frames, {1, {names.begin(), names.end()}});
    for (int i = 0; i < 20; ++i) read(busy, frames);
    Peer peer("a client");
    peer.may_come_back = true;
    const ConnectionId connection = accept(peer);
    frames.clear();
    protocol::write_hello(frames, {.name = "ann", .is_resumable = true, .resume = resume});
    read(connection, frames);
    return connection;
  }
  bool is_resumed(ConnectionId connection) { return welcome_of(connection)->resumed.has_value(); }
};

TEST_F(SessionResumption, GoesOnWhereItWas) {
  const ConnectionId first = connect_member();
  ASSERT_TRUE(welcome_of(first)->resumable);
  EXPECT_EQ(welcome_of(first)->resumable->timeout_ms, 5000u);
  EXPECT_FALSE(welcome_of(first)->resumed);
  const ConnectionId other = connect_member({.name = "bob"});
  const std::size_t views = frames_of(other, ClientFrame::view).size();
  const protocol::Resume resume = resume_of(first);
  lose(first);
  send(other, 5);

  const ConnectionId again = connect({.resume = resume});
  const protocol::Welcome welcome = *welcome_of(again);
  EXPECT_EQ(welcome.private_name, "#ann#alpha");
  EXPECT_EQ(welcome.resumed, 2u) << "define and join";
  EXPECT_EQ(welcome.resumable->key, resume.key);
  EXPECT_EQ(got(again).size(), 1u);
  send(again, 6);
  EXPECT_EQ(got(other).size(), 2u) << "its set 0 is still defined";
  EXPECT_EQ(frames_of(other, ClientFrame::view).size(), views) << "it was a member all the while";
  EXPECT_EQ(count(Counter::sessions_detached), 1u);
  EXPECT_EQ(count(Counter::sessions_resumed), 1u);
  EXPECT_EQ(count(Counter::sessions_opened), 2u);
}

// What was found of the names of one set says nothing of another, which may come in its place.
TEST_F(SessionResumption, JudgesAnewWhatWasBeingDefined) {
  AccessConfig access;
  access.rules.push_back({{"cert:bob"}, {"*"}, RightSet::all()});
  for (int i = 0; i < 1000; ++i) access.rules.push_back({{"cert:cat"}, {"c" + std::to_string(i)}, {}});
  access.rules.push_back({{"anyone"}, {"group-*"}, RightSet::all()});
  const ConnectionId bob = connect({.name = "bob", .identities = {"cert:bob"}});
  const ConnectionId first = connect({});
  reconfigure(access);
  ASSERT_EQ(ask(bob, ClientFrame::join, "secret"), kDone);
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("group-" + std::to_string(i));
  std::vector<std::uint8_t> frames;
  protocol::write_define(frames, {0, {names.begin(), names.end()}});
  read(first, frames);
  turn();  // a part of them
  const protocol::Resume resume = resume_of(first);
  lose(first);
  const ConnectionId again = connect({.resume = resume});
  ASSERT_TRUE(is_resumed(again));
  ASSERT_EQ(welcome_of(again)->resumed, 0u) << "they are not defined yet";
  frames.clear();
  protocol::write_define(frames, {0, {"secret"}});
  write_typed(frames, 1, 10);
  read(again, frames);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_TRUE(got(bob).empty());
  EXPECT_EQ(frames_of(again, ClientFrame::refused).size(), 1u);
}

TEST_F(SessionResumption, WritesAgainWhatTheClientHasNotGot) {
  const ConnectionId first = connect_member();
  const protocol::Resume before = resume_of(first);
  send(first, 1);
  send(first, 2);
  ASSERT_EQ(got(first).size(), 2u);
  lose(first);
  const ConnectionId second = connect({.resume = before});
  EXPECT_EQ(got(second).size(), 2u) << "they were lost on the way";
  const protocol::Resume after{before.key, before.received + frames_got(second)};
  lose(second);
  const ConnectionId third = connect({.resume = after});
  EXPECT_EQ(got(third).size(), 0u);
  ASSERT_TRUE(is_resumed(third));
}

TEST_F(SessionResumption, TakesTheConnectionThatTheClientNoLongerHas) {
  const ConnectionId first = connect_member();
  const ConnectionId second = connect({.resume = resume_of(first)});
  EXPECT_TRUE(driver_.closed.contains(first));
  ASSERT_TRUE(is_resumed(second));
  send(second, 3);
  EXPECT_EQ(got(second).size(), 1u);
}

TEST_F(SessionResumption, IsReadOnAConnectionThatHadToWaitForItsTurn) {
  const ConnectionId first = connect_member(), other = connect({.name = "bob"});
  const ConnectionId second = come_back_when_nothing_is_left(resume_of(first), other);
  ASSERT_TRUE(driver_.unread.contains(second));
  for (int i = 0; i < 3; ++i) turn();
  ASSERT_TRUE(is_resumed(second));
  EXPECT_FALSE(driver_.unread.contains(second));
}

TEST_F(SessionResumption, IsNotForAConnectionThatIsLostBeforeItIsItsTurn) {
  const ConnectionId first = connect_member(), other = connect({.name = "bob"});
  const ConnectionId second = come_back_when_nothing_is_left(resume_of(first), other);
  node_.handle_closed(now_, second, "reset");
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_FALSE(driver_.closed.contains(first));
  EXPECT_EQ(node_.sessions(), 2u);
}

TEST_F(SessionResumption, IsNotForWhoeverDoesNotKnowTheSecret) {
  const ConnectionId first = connect_member();
  protocol::Resume resume = resume_of(first);
  resume.key.secret.back() ^= 1;
  const ConnectionId stranger = connect({.name = "eve", .resume = resume});
  EXPECT_FALSE(is_resumed(stranger));
  EXPECT_EQ(welcome_of(stranger)->private_name, "#eve#alpha") << "it has a session of its own";
  EXPECT_FALSE(driver_.closed.contains(first));
  resume = resume_of(first);
  resume.key.session += 1000;
  EXPECT_FALSE(is_resumed(connect({.name = "hal", .resume = resume})));
}

TEST_F(SessionResumption, IsNotForAnotherIdentity) {
  const ConnectionId first = connect_member({.identities = {"cert:ann"}});
  const protocol::Resume resume = resume_of(first);
  EXPECT_FALSE(is_resumed(connect({.name = "eve", .identities = {"cert:eve"}, .resume = resume})));
  EXPECT_TRUE(is_resumed(connect({.identities = {"cert:ann"}, .resume = resume})));
}

TEST_F(SessionResumption, DoesNotGoOnWhereTheClientCannotBe) {
  const ConnectionId first = connect_member();
  protocol::Resume resume = resume_of(first);
  resume.received += 1;
  lose(first);
  const ConnectionId second = connect({.resume = resume});
  EXPECT_FALSE(is_resumed(second));
  EXPECT_EQ(welcome_of(second)->private_name, "#ann#alpha") << "the name of its former session is free";
  EXPECT_EQ(logged("a new client has taken its name"), 1u);
}

TEST_F(SessionResumption, EndsAfterAWhile) {
  const ConnectionId first = connect_member();
  const ConnectionId other = connect_member({.name = "bob"});
  const protocol::Resume resume = resume_of(first);
  lose(first);
  wait(4s);
  const std::size_t views = frames_of(other, ClientFrame::view).size();
  wait(3s);
  ASSERT_EQ(frames_of(other, ClientFrame::view).size(), views + 1);
  const auto view = protocol::read_view(frames_of(other, ClientFrame::view).back());
  EXPECT_EQ(view->cause, spindle::ViewCause::disconnect);
  EXPECT_FALSE(is_resumed(connect({.resume = resume})));
  EXPECT_EQ(count(Counter::sessions_closed), 1u);
  EXPECT_EQ(closes(Errc::connection_lost), 1u);
}

TEST_F(SessionResumption, EndsWhereTooMuchWaits) {
  const ConnectionId first = connect_member();
  const ConnectionId other = connect_member({.name = "bob"});
  lose(first);
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < 30; ++i) write_message(frames, 60'000);
  read(other, frames);
  for (int i = 0; i < 50; ++i) turn();
  EXPECT_EQ(logged("too much waits for it"), 1u);
  EXPECT_EQ(count(Counter::sessions_closed), 1u);
}

TEST_F(SessionResumption, NothingIsKeptOfWhatWasTooMuch) {
  const ConnectionId first = connect_member();
  const ConnectionId other = connect_member({.name = "bob"});
  lose(first);
  std::size_t most = 0;
  for (int i = 0; i < 30; ++i) {
    std::vector<std::uint8_t> frames;
    write_message(frames, 60'000);
    read(other, frames);
    turn();
    most = std::max(most, node_.memory().session_queue);
  }
  EXPECT_EQ(count(Counter::sessions_closed), 1u);
  EXPECT_LE(most, config().session.queue_hard_bytes);
}

/// Members of a synchronous group whose daemon had them leave it.
class PutOut : public SessionResumption {
 protected:
  ConnectionId join(std::string_view name) {
    const ConnectionId connection = connect({.name = name});
    std::vector<std::uint8_t> frames;
    protocol::write_group_request(frames, ClientFrame::join, {1, "news", protocol::kSynchronousBit});
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    return connection;
  }
  void expect_answers_soon() {
    NodeConfig next = config();
    next.session.flush_timeout = 1s;
    node_.reconfigure(now_, next);
  }
  /// Of a member that does not answer in time, and whose connection is lost then. Whether it may go on.
  bool may_return(bool has_heard_of_it) {
    expect_answers_soon();
    const ConnectionId first = join("ann");
    join("bob");
    wait(2s);
    EXPECT_EQ(count(Counter::flush_timeouts), 1u);
    const protocol::Resume resume = resume_of(first);
    if (has_heard_of_it) {
      std::vector<std::uint8_t> frame;
      protocol::write_received(frame, ClientFrame::received, frames_got(first));
      read(first, frame);
    }
    lose(first);
    EXPECT_EQ(logged("had to leave a group without knowing it"), has_heard_of_it ? 0u : 1u) << "at once";
    return is_resumed(connect({.resume = resume}));
  }
};

// It cannot answer.
TEST_F(PutOut, WhileItIsAwayEnds) {
  expect_answers_soon();
  const ConnectionId first = join("ann");
  const ConnectionId other = join("bob");
  ASSERT_EQ(frames_of(first, ClientFrame::flush_request).size(), 1u);
  const protocol::Resume resume = resume_of(first);
  lose(first);
  wait(2s);
  EXPECT_EQ(logged("had to leave a group without knowing it"), 1u);
  EXPECT_EQ(count(Counter::flush_timeouts), 1u);
  EXPECT_FALSE(frames_of(other, ClientFrame::view).empty());
  EXPECT_FALSE(is_resumed(connect({.resume = resume})));
}

// Elsewhere its client would take it for gone.
TEST_F(PutOut, WithoutKnowingItEndsWithTheConnection) { EXPECT_FALSE(may_return(false)); }

TEST_F(PutOut, AndToldSoMayGoOn) { EXPECT_TRUE(may_return(true)); }

// What it was taken out of is remembered, as it may have sent in the view that the others have left.
TEST_F(PutOut, OfMoreGroupsThanAreRememberedEnds) {
  expect_answers_soon();
  const ConnectionId silent = connect({.name = "ann"}), other = connect({.name = "bob"});
  for (const ConnectionId connection : {silent, other}) {
    std::vector<std::uint8_t> frames;
    for (std::uint32_t i = 1; i <= 1'001; ++i) {
      protocol::write_group_request(frames, ClientFrame::join,
                                    {i, fmt::format("news{}", i), protocol::kSynchronousBit});
    }
    read(connection, frames);
    wait(1s);
  }
  ASSERT_EQ(frames_of(silent, ClientFrame::flush_request).size(), 1'001u);
  wait(3s);
  EXPECT_EQ(count(Counter::flush_timeouts), 1'001u);
  EXPECT_EQ(count(Counter::sessions_closed), 1u);
  EXPECT_EQ(logged("flush requests of 1001 groups"), 1u);
}

// A host with clients in many groups may hang, and all are asked at the same moment.
TEST_F(PutOut, OfManyGroupsTakesSeveralTurns) {
  constexpr std::uint32_t kGroups = 900;
  expect_answers_soon();
  const ConnectionId silent = connect({.name = "ann"}), other = connect({.name = "bob"});
  for (const ConnectionId connection : {silent, other}) {
    std::vector<std::uint8_t> frames;
    for (std::uint32_t i = 1; i <= kGroups; ++i) {
      protocol::write_group_request(frames, ClientFrame::join,
                                    {i, fmt::format("news{}", i), protocol::kSynchronousBit});
    }
    read(connection, frames);
    wait(900ms);
  }
  ASSERT_EQ(frames_of(silent, ClientFrame::flush_request).size(), kGroups);
  ASSERT_EQ(count(Counter::flush_timeouts), 0u);
  now_ += 5s;
  std::uint64_t before = 0;
  for (int i = 0; i < 10; ++i) {
    turn();
    EXPECT_LE(count(Counter::flush_timeouts), before + Flushes::kOverdueAtOnce);
    before = count(Counter::flush_timeouts);
  }
  EXPECT_EQ(before, kGroups);
}

TEST_F(SessionResumption, IsNothingOnAUnixSocketNorForWhoDoesNotAskForIt) {
  for (const Options& options : {Options{.may_come_back = false}, Options{.is_resumable = false}}) {
    const ConnectionId connection = connect_member(options);
    EXPECT_FALSE(welcome_of(connection)->resumable);
    lose(connection);
    EXPECT_EQ(count(Counter::sessions_detached), 0u);
  }
}

TEST_F(SessionResumption, CountsFramesOnlyWhereItCanBeResumed) {
  std::vector<std::uint8_t> frame;
  protocol::write_received(frame, ClientFrame::received, 0);
  const ConnectionId plain = connect({.is_resumable = false});
  read(plain, frame);
  turn();
  EXPECT_EQ(close_of(plain).code, static_cast<std::uint16_t>(Errc::unexpected_frame));
  const ConnectionId early = connect_member({.name = "bob"});
  frame.clear();
  protocol::write_received(frame, ClientFrame::received, 1000);
  read(early, frame);
  turn();
  EXPECT_EQ(close_of(early).code, static_cast<std::uint16_t>(Errc::malformed_frame));
}

TEST_F(SessionResumption, TellsTheClientOfItsFrames) {
  const ConnectionId connection = connect_member();
  wait(300ms);
  ASSERT_EQ(frames_of(connection, ClientFrame::received_by_daemon).size(), 1u);
  EXPECT_EQ(protocol::read_received(frames_of(connection, ClientFrame::received_by_daemon).back()), 2u);
  wait(1s);
  EXPECT_EQ(frames_of(connection, ClientFrame::received_by_daemon).size(), 1u) << "there is nothing new";
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < 40; ++i) write_typed(frames, 0, 2'000);
  read(connection, frames);
  turn();
  const std::vector<ByteView> told = frames_of(connection, ClientFrame::received_by_daemon);
  ASSERT_EQ(told.size(), 2u) << "64 KiB are told at once";
  EXPECT_EQ(protocol::read_received(told.back()), 42u) << "those in bundles count, too";
}

TEST_F(SessionResumption, WritesNoFurtherThanTheClientHasRoomToAskAgain) {
  const ConnectionId first = connect_member();
  const ConnectionId other = connect_member({.name = "bob"});
  const std::uint64_t before = frames_got(first);
  for (int i = 0; i < 60; ++i) {
    std::vector<std::uint8_t> frames;
    write_message(frames, 30'000);
    read(other, frames);
    turn();
    // The other one tells what it has got.
    frames.clear();
    protocol::write_received(frames, ClientFrame::received, frames_got(other));
    read(other, frames);
  }
  const std::size_t got_first = got(first).size();
  EXPECT_GE(got_first * 30'000, ResumeWindow::kLeastBytes);
  EXPECT_LT(got_first, 60u);
  for (int i = 0; i < 500 && got(first).size() < 60; ++i) {
    std::vector<std::uint8_t> frame;
    protocol::write_received(frame, ClientFrame::received, before + got(first).size());
    read(first, frame);
    turn();
  }
  EXPECT_EQ(got(first).size(), 60u);
}

TEST(ResumeWindow, GrowsForWhoIsFarAway) {
  constexpr std::size_t kLimit = 3 * ResumeWindow::kLeastBytes;
  ResumeWindow window;
  EXPECT_EQ(window.bytes(kLimit), ResumeWindow::kLeastBytes);
  EXPECT_EQ(window.bytes(1'000), 1'000u) << "the limit is lower now";
  Time now{};
  std::uint64_t frames = 0;
  const auto round = [&](Duration trip) {
    window.note_full(now, frames + 10);
    window.note_full(now + 1ms, frames + 20);
    window.note_got(now + trip / 2, frames + 9, kLimit);
    window.note_got(now + trip, frames + 10, kLimit);
    window.note_got(now + 1s, frames + 20, kLimit);
    now += 2s;
    frames += 20;
    return window.bytes(kLimit);
  };
  EXPECT_EQ(round(ResumeWindow::kFar - 1us), ResumeWindow::kLeastBytes);
  EXPECT_EQ(round(ResumeWindow::kFar), 2 * ResumeWindow::kLeastBytes);
  EXPECT_EQ(round(100ms), kLimit);
  EXPECT_EQ(round(100ms), kLimit);
  EXPECT_EQ(round(1ms), kLimit / 2);
  EXPECT_EQ(round(1ms), ResumeWindow::kLeastBytes);
}

TEST_F(SessionResumption, ASilentClientHasLostItsConnection) {
  const ConnectionId first = connect_member({.keepalive_ms = 1000});
  const protocol::Resume resume = resume_of(first);
  wait(2s);
  EXPECT_FALSE(driver_.closed.contains(first));
  wait(2s);
  EXPECT_TRUE(driver_.closed.contains(first));
  EXPECT_TRUE(is_resumed(connect({.resume = resume})));
  const ConnectionId plain = connect({.name = "bob", .is_resumable = false, .keepalive_ms = 1000});
  wait(4s);
  EXPECT_EQ(close_of(plain).code, static_cast<std::uint16_t>(Errc::silent_peer));
}

TEST_F(SessionResumption, NothingMayComeBehindTheHelloThatAsksForIt) {
  const ConnectionId first = connect_member();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.name = "ann", .is_resumable = true, .resume = resume_of(first)});
  protocol::write_ping(frames, ClientFrame::ping, 1);
  lose(first);
  Peer peer("a client");
  peer.may_come_back = true;
  const ConnectionId hasty = accept(peer);
  read(hasty, frames);
  turn();
  EXPECT_EQ(close_of(hasty).code, static_cast<std::uint16_t>(Errc::unexpected_frame));
}

TEST_F(SessionResumption, EndsWithTheDaemon) {
  lose(connect_member());
  node_.stop(now_);
  node_.end_turn(now_);
  EXPECT_TRUE(node_.is_stopped());
}

}  // namespace
}  // namespace spindled::test
