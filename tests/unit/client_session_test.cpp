// A client whose daemon says that it is going, with daemons played frame by frame.
#include "libclient/protocol/client_session.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tests/support/payload_frames.h"

namespace spindle::protocol {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using Bytes = std::vector<std::uint8_t>;

struct Frame {
  ClientFrame type;
  Bytes body;
};

class ClientSessionTest : public testing::Test {
 protected:
  static SessionOptions options() {
    SessionOptions options;
    options.name = "me";
    options.servers = 2;
    return options;
  }
  void begin(const SessionOptions& options = ClientSessionTest::options()) {
    session_.emplace(options);
    session_->start(now_);
    ASSERT_EQ(session_->take_dial(), 0u);
    session_->connected(now_);
    hello_ = written().front();
    welcome("#me#a");
  }
  /// A member of "news", with "#peer#b".
  void begin_in_news() {
    begin();
    ASSERT_FALSE(session_->join("news"));
    said();
    deliver_frame([](Bytes& out) { write_reply(out, {1, 0}); });
    view_of({"#me#a", "#peer#b"}, {"#me#a"});
  }
  void welcome(std::string_view name, bool resumable = true) {
    Bytes bytes;
    Welcome welcome{1, name};
    if (resumable) welcome.resumable = {{7, {1, 2, 3}}, 5000};
    write_welcome(bytes, welcome);
    deliver(bytes);
  }
  /// The session goes on where it wants to: the number of that server.
  std::optional<std::size_t> move() {
    if (session_->next_deadline() != kNeverAgain) now_ = std::max(now_, session_->next_deadline());
    session_->handle_time(now_);
    const std::optional<std::size_t> server = session_->take_dial();
    if (!server) return std::nullopt;
    session_->connected(now_);
    hello_ = written().front();
    return server;
  }
  void deliver(const Bytes& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::span<std::uint8_t> room = session_->reader().prepare();
      const std::size_t count = std::min(room.size(), bytes.size() - done);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(done), count, room.begin());
      session_->reader().commit(count);
      done += count;
    }
    if (session_->is_settling_due()) session_->settle(now_);
    for (Event& event : session_->engine().take_events()) events_.push_back(std::move(event));
  }
  template <typename Write>
  void deliver_frame(Write&& write) {
    Bytes bytes;
    write(bytes);
    deliver(bytes);
  }
  void go(std::uint32_t milliseconds = 2000) {
    deliver_frame([&](Bytes& out) { write_going(out, milliseconds); });
  }
  void confirm(std::uint32_t request, std::uint64_t taken) {
    deliver_frame([&](Bytes& out) { write_confirmed(out, {request, taken}); });
  }
  void close(Errc code, std::uint64_t taken) {
    deliver_frame([&](Bytes& out) { write_close(out, {static_cast<std::uint16_t>(code), "", taken}); });
  }
  /// The only view of "news", of these members.
  void view_of(const std::vector<std::string_view>& members, const std::vector<std::string_view>& joined = {},
               const std::vector<std::string_view>& left = {}) {
    deliver_frame([&](Bytes& out) { write_news_view(out, members, joined, left); });
  }
  void write_news_view(Bytes& out, const std::vector<std::string_view>& members,
                       const std::vector<std::string_view>& joined, const std::vector<std::string_view>& left) {
    GroupViewFrame view;
    view.group = "news";
    view.id = {1, "a", 2, ++position_};
    view.cause = left.empty() ? ViewCause::join : ViewCause::disconnect;
    view.members = members;
    view.joined = joined;
    view.left = left;
    view.member_count = static_cast<std::uint32_t>(members.size());
    write_view(out, view);
  }
  /// The last view of "news".
  void farewell() {
    GroupViewFrame view{"news", {1, "a", 2, ++position_}, ViewCause::leave, ViewForm::farewell};
    view.left = {session_->private_name()};
    deliver_frame([&](Bytes& out) { write_view(out, view); });
  }
  /// The reader gets it, and nothing is settled.
  template <typename Write>
  void read_only(Write&& write) {
    Bytes bytes;
    write(bytes);
    const std::span<std::uint8_t> room = session_->reader().prepare();
    std::copy(bytes.begin(), bytes.end(), room.begin());
    session_->reader().commit(bytes.size());
  }
  void send(std::string_view payload, std::uint64_t ticket = 0) {
    ASSERT_FALSE(session_->multicast(Service::agreed, "news", payload, {.ticket = ticket}));
  }
  std::vector<Frame> written() {
    Bytes bytes;
    for (ByteView part = session_->output(); !part.empty(); part = session_->output()) {
      bytes.insert(bytes.end(), part.begin(), part.end());
      session_->consume(part.size());
    }
    std::vector<Frame> frames;
    ByteView rest(bytes);
    while (const auto head = read_frame_head(rest)) {
      const ByteView body = rest.subspan(kFrameHeadBytes, head->length);
      frames.push_back({static_cast<ClientFrame>(head->type), Bytes(body.begin(), body.end())});
      rest = rest.subspan(kFrameHeadBytes + head->length);
    }
    return frames;
  }
  /// What was written since, as text: types, and the payloads of messages.
  std::vector<std::string> said() {
    std::vector<std::string> words;
    for (const Frame& frame : written()) {
      if (frame.type == ClientFrame::send) {
        words.emplace_back(as_text(read_send(frame.body)->chunk));
      } else if (frame.type == ClientFrame::confirm) {
        asked_ = *read_confirm(frame.body);
        words.emplace_back("confirm");
      } else {
        words.push_back(frame.type == ClientFrame::bye      ? "bye"
                        : frame.type == ClientFrame::join   ? "join"
                        : frame.type == ClientFrame::define ? "define"
                        : frame.type == ClientFrame::ping   ? "ping"
                                                            : "frame " + std::to_string(static_cast<int>(frame.type)));
      }
    }
    return words;
  }
  std::vector<const Reconnected*> reconnected() const {
    std::vector<const Reconnected*> found;
    for (const Event& event : events_) {
      if (event.is<Reconnected>()) found.push_back(&event.get<Reconnected>());
    }
    return found;
  }
  const Disconnected* disconnected() const { return events_.empty() ? nullptr : events_.back().get_if<Disconnected>(); }

  Instant now_{1s};
  std::optional<ClientSession> session_;
  Frame hello_{};  // the last one
  std::vector<Event> events_;
  std::uint32_t asked_ = 0;  // the number of the last `confirm`
  std::uint64_t position_ = 0;
};

TEST_F(ClientSessionTest, WaitsUntilAllHasEnteredAndGoesOnElsewhere) {
  begin();
  EXPECT_TRUE(read_hello(hello_.body)->moves);
  send("one", 1);
  send("two", 2);
  EXPECT_THAT(said(), ElementsAre("define", "one", "two"));
  go();
  EXPECT_THAT(said(), ElementsAre("confirm"));
  send("three", 3);
  EXPECT_FALSE(session_->join("late"));
  EXPECT_THAT(said(), IsEmpty()) << "what is new is held, and not refused";
  confirm(asked_, 2);
  EXPECT_THAT(said(), ElementsAre("bye"));
  deliver_frame([](Bytes& out) { test::append_message_frame(out, {4, 7, "#peer#a", {"news"}, 4, as_bytes("last")}); });
  close(Errc::closed_by_client, 2);
  EXPECT_TRUE(session_->take_hang_up());
  EXPECT_FALSE(session_->is_over());
  ASSERT_EQ(events_.size(), 1u) << "what came before the close";
  EXPECT_EQ(events_.front().get<Message>().text(), "last");

  ASSERT_EQ(move(), 1u);
  EXPECT_FALSE(read_hello(hello_.body)->resume) << "the session has ended";
  welcome("#me#b");
  ASSERT_EQ(reconnected().size(), 1u);
  EXPECT_FALSE(reconnected().front()->resumed);
  EXPECT_THAT(reconnected().front()->unknown, IsEmpty());
  EXPECT_EQ(reconnected().front()->former_name, "#me#a");
  EXPECT_THAT(said(), ElementsAre("join", "define", "three"));
  EXPECT_EQ(session_->not_taken().messages, 1u);
}

TEST_F(ClientSessionTest, HasEachServerWelcomeItInItsShareOfTheTime) {
  SessionOptions three = options();
  three.servers = 3;
  three.connect_timeout = 9s;
  session_.emplace(three);
  session_->start(now_);
  ASSERT_EQ(session_->take_dial(), 0u);
  EXPECT_EQ(session_->next_deadline(), now_ + 3s);
  session_->connected(now_);
  ASSERT_EQ(move(), 1u) << "it accepts, and says nothing";
  EXPECT_EQ(now_, Instant(4s));
  now_ += 1s;
  session_->failed(now_, Errc::connect_failed, "refused");
  ASSERT_EQ(session_->take_dial(), 2u);
  EXPECT_EQ(session_->next_deadline(), Instant(10s)) << "all that is left";
  session_->connected(now_);
  EXPECT_EQ(move(), std::nullopt);
  for (Event& event : session_->engine().take_events()) events_.push_back(std::move(event));
  ASSERT_NE(disconnected(), nullptr);
  EXPECT_EQ(disconnected()->error, Errc::timed_out);
}

TEST_F(ClientSessionTest, TriesAllServersInTheTimeThatItHasToComeBack) {
  SessionOptions patient = options();
  patient.connect_timeout = std::chrono::hours(24 * 3'653);
  begin(patient);
  session_->reader().end(Errc::connection_lost);
  session_->settle(now_);
  const Instant lost = now_;
  std::vector<std::size_t> tried;
  while (!session_->is_over()) {
    const std::optional<std::size_t> server = move();
    if (!server) continue;
    tried.push_back(*server);
    EXPECT_LE(session_->dial_until() - lost, patient.reconnect_timeout + ClientSession::kAttemptPeriod);
    EXPECT_GE(session_->dial_until() - now_, ClientSession::kAttemptPeriod);
  }
  ASSERT_GE(tried.size(), 2u) << "both accept, and say nothing";
  EXPECT_EQ(tried[0], 0u);
  EXPECT_EQ(tried[1], 1u);
  EXPECT_LT(now_ - lost, patient.reconnect_timeout + 2 * ClientSession::kAttemptPeriod);
}

TEST_F(ClientSessionTest, SaysNothingOfItsOwnToWhoAskedForAConfirmation) {
  struct Observer final : RequestObserver {
    bool refused(std::uint32_t, const RequestFailed&) override { return false; }
    void confirmed(std::uint32_t request) override { requests.push_back(request); }
    void answered(Requests::Number, Answers) override {}
    std::vector<std::uint32_t> requests;
  } observer;
  begin();
  session_->engine().observe(&observer);
  send("one");
  go();
  said();
  send("two");
  ASSERT_FALSE(session_->engine().confirm());
  const std::uint32_t of_the_program = session_->writer().last_request();
  confirm(asked_, 1);
  said();
  close(Errc::closed_by_client, 1);
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  EXPECT_THAT(said(), ElementsAre("define", "two", "confirm"));
  EXPECT_EQ(asked_, of_the_program) << "asked again, and only that";
  confirm(asked_, 1);
  EXPECT_EQ(observer.requests.back(), of_the_program);
  EXPECT_EQ(session_->not_taken().messages, 0u);
}

TEST_F(ClientSessionTest, OfWhatWasConfirmedNothingElseCountsAsTaken) {
  begin();
  send("one", 1);
  send("two", 2);
  ASSERT_FALSE(session_->engine().confirm());
  send("three", 3);
  send("four", 4);
  said();
  confirm(asked_, 2);
  session_->reader().end(Errc::connection_lost);
  session_->settle(now_);
  ASSERT_EQ(move(), 0u);
  welcome("#me#b");
  EXPECT_THAT(reconnected().front()->unknown, ElementsAre(3u, 4u));
}

TEST_F(ClientSessionTest, AsksAgainForConfirmationsWithoutUnknownMessagesOnly) {
  for (const std::uint8_t flags : {std::uint8_t{0}, kIndependentFlowsBit}) {
    SCOPED_TRACE(flags);
    events_.clear();
    SessionOptions those = options();
    those.flags = static_cast<std::uint8_t>(kTellTakenBit | flags);
    begin(those);
    ASSERT_FALSE(session_->multicast(Service::agreed, "other", "x", {.ticket = 1}));
    ASSERT_FALSE(session_->engine().confirm());
    const std::uint32_t of_other = session_->writer().last_request();
    send("known", 2);
    send("unknown", 3);
    ASSERT_FALSE(session_->engine().confirm());
    const std::uint32_t of_all = session_->writer().last_request();
    said();
    ASSERT_FALSE(session_->multicast(Service::agreed, "other", "unsent", {.ticket = 4}));
    if (flags == 0) {
      deliver_frame([](Bytes& out) { write_taken(out, 2); });
    } else {
      deliver_frame([](Bytes& out) { write_admitted(out, {0, static_cast<std::uint32_t>(flow_bytes(1))}); });
      deliver_frame([](Bytes& out) { write_admitted(out, {1, static_cast<std::uint32_t>(flow_bytes(5))}); });
    }
    session_->reader().end(Errc::connection_lost);
    session_->settle(now_);
    ASSERT_EQ(move(), 0u);
    welcome("#me#b");
    EXPECT_THAT(reconnected().back()->unknown, ElementsAre(3u));
    EXPECT_EQ(session_->writer().ended_confirm(of_all), 1u);
    EXPECT_EQ(session_->writer().ended_confirm(of_other), std::nullopt);
    said();
    EXPECT_EQ(asked_, of_other);
    confirm(of_other, 1);
    EXPECT_EQ(session_->not_taken().messages, 1u);
    EXPECT_FALSE(session_->not_taken().exact);
    session_->note_told(*reconnected().back());
    EXPECT_EQ(session_->not_taken().messages, 0u);
    EXPECT_TRUE(session_->not_taken().exact);
  }
}

TEST_F(ClientSessionTest, HeedsTheFirstGoingOnly) {
  begin();
  go();
  go(0);
  EXPECT_THAT(said(), ElementsAre("confirm"));
  confirm(asked_, 0);
  go();
  EXPECT_THAT(said(), ElementsAre("bye"));
}

TEST_F(ClientSessionTest, NamesWhatIsUnknownWhereTheGraceRunsOut) {
  begin();
  send("one", 1);
  send("two", 2);
  go();
  said();
  send("three", 3);
  close(Errc::daemon_stopping, 1);
  ASSERT_EQ(move(), 1u);
  EXPECT_FALSE(read_hello(hello_.body)->resume);
  welcome("#me#b");
  ASSERT_EQ(reconnected().size(), 1u);
  EXPECT_THAT(reconnected().front()->unknown, ElementsAre(2u));
  EXPECT_THAT(said(), ElementsAre("define", "three"));
}

TEST_F(ClientSessionTest, TakesUpNoSessionOfADaemonThatGoes) {
  SessionOptions alone = options();
  alone.servers = 1;
  begin(alone);
  send("one", 1);
  go();
  said();
  session_->reader().end(Errc::connection_lost);
  session_->settle(now_);
  EXPECT_FALSE(session_->resume());
  ASSERT_EQ(move(), 0u) << "there is no other";
  EXPECT_FALSE(read_hello(hello_.body)->resume);
  close(Errc::daemon_stopping, 0);
  EXPECT_EQ(session_->take_dial(), std::nullopt) << "not at once again";
  ASSERT_EQ(move(), 0u);
  welcome("#me#a");
  ASSERT_EQ(reconnected().size(), 1u);
  EXPECT_FALSE(reconnected().front()->resumed);
  EXPECT_THAT(reconnected().front()->unknown, ElementsAre(1u));
}

TEST_F(ClientSessionTest, GoesToNoServerForWhichItsTimeIsOver) {
  begin();
  session_->reader().end(Errc::connection_lost);
  session_->settle(now_);
  now_ = session_->next_deadline();
  session_->handle_time(now_);
  // Nobody has come to dial it.
  now_ = session_->next_deadline();
  session_->handle_time(now_);
  EXPECT_EQ(session_->take_dial(), std::nullopt);
  EXPECT_NE(move(), std::nullopt) << "the next one, which has time of its own";
}

TEST_F(ClientSessionTest, WithoutReturnTakesNoNoticeOfIt) {
  SessionOptions once = options();
  once.reconnect_timeout = 0ms;
  begin(once);
  EXPECT_FALSE(read_hello(hello_.body)->moves);
  go();
  send("one");
  EXPECT_THAT(said(), ElementsAre("define", "one"));
  close(Errc::daemon_stopping, 1);
  ASSERT_NE(disconnected(), nullptr);
  EXPECT_EQ(disconnected()->error, Errc::daemon_stopping);
}

TEST_F(ClientSessionTest, EndsWithAMalformedGoing) {
  begin();
  deliver({1, 0, 0, static_cast<std::uint8_t>(ClientFrame::going), 0x80});
  ASSERT_NE(disconnected(), nullptr);
  EXPECT_EQ(disconnected()->error, Errc::malformed_frame);
}

TEST_F(ClientSessionTest, ThatHasSaidGoodbyeGoesNowhere) {
  begin();
  send("one");
  session_->bye();
  go();
  EXPECT_THAT(said(), ElementsAre("define", "one", "bye"));
  close(Errc::closed_by_client, 1);
  ASSERT_NE(disconnected(), nullptr);
  EXPECT_EQ(disconnected()->error, Errc::closed_by_client);
  EXPECT_TRUE(session_->is_over());
}

TEST_F(ClientSessionTest, SaysGoodbyeElsewhereWhereSomethingIsHeld) {
  for (const bool holds : {false, true}) {
    SCOPED_TRACE(holds);
    events_.clear();
    begin();
    go();
    said();
    if (holds) send("one");
    session_->bye();
    confirm(asked_, 0);
    EXPECT_THAT(said(), ElementsAre("bye"));
    close(Errc::closed_by_client, 0);
    EXPECT_EQ(session_->is_over(), !holds);
    if (!holds) continue;
    ASSERT_EQ(move(), 1u);
    welcome("#me#b");
    EXPECT_THAT(said(), ElementsAre("define", "one", "bye"));
    close(Errc::closed_by_client, 1);
    EXPECT_TRUE(session_->is_over());
    EXPECT_EQ(disconnected()->not_taken.messages, 0u);
  }
}

TEST_F(ClientSessionTest, IsFencedElsewhere) {
  begin_in_news();
  go();
  said();
  send("held");
  confirm(asked_, 0);
  said();
  close(Errc::closed_by_client, 0);
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  EXPECT_TRUE(reconnected().front()->fenced);
  EXPECT_THAT(said(), ElementsAre("join"));
  view_of({"#me#a", "#me#b", "#peer#b"}, {"#me#b"});
  EXPECT_THAT(said(), IsEmpty());
  view_of({"#me#b", "#peer#b"}, {}, {"#me#a"});
  EXPECT_THAT(said(), ElementsAre("define", "held"));
}

TEST_F(ClientSessionTest, CountsNoGroupThatTheFormerSessionAskedToLeave) {
  begin_in_news();
  ASSERT_FALSE(session_->leave("news"));
  ASSERT_FALSE(session_->join("news"));
  close(Errc::daemon_stopping, 0);
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  EXPECT_FALSE(reconnected().front()->fenced) << "that it is in no view does not say that it is gone";
}

TEST_F(ClientSessionTest, CountsAGroupThatTheFormerSessionHasLeftAndJoinedAgain) {
  begin();
  ASSERT_FALSE(session_->join("news"));
  deliver_frame([](Bytes& out) { write_reply(out, {1, 0}); });
  view_of({"#me#a", "#peer#b"}, {"#me#a"});
  ASSERT_FALSE(session_->leave("news"));
  deliver_frame([](Bytes& out) { write_reply(out, {2, 0}); });
  farewell();
  ASSERT_FALSE(session_->leave("news"));
  deliver_frame([](Bytes& out) { write_reply(out, {3, static_cast<std::uint16_t>(Errc::not_a_member)}); });
  ASSERT_FALSE(session_->join("news"));
  deliver_frame([](Bytes& out) { write_reply(out, {4, 0}); });
  view_of({"#me#a", "#peer#b"}, {"#me#a"});
  close(Errc::daemon_stopping, 0);
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  EXPECT_TRUE(reconnected().front()->fenced);
}

// The leave finds no member then, and has no last view.
TEST_F(ClientSessionTest, CountsAGroupThatItHasJoinedAgainBehindARefusedJoinAndALeave) {
  for (const bool is_answered_before : {true, false}) {
    SCOPED_TRACE(is_answered_before);
    events_.clear();
    begin();
    ASSERT_FALSE(session_->join("news"));
    deliver_frame([](Bytes& out) { write_reply(out, {1, 0}); });
    ASSERT_FALSE(session_->leave("news"));
    if (is_answered_before) deliver_frame([](Bytes& out) { write_reply(out, {2, 0}); });
    deliver_frame([](Bytes& out) {
      write_refused(out, {Refused::What::join, static_cast<std::uint16_t>(Errc::mode_mismatch), 0, "news"});
    });
    ASSERT_FALSE(session_->join("news", true));
    ASSERT_FALSE(session_->leave("news"));
    if (!is_answered_before) {
      deliver_frame([](Bytes& out) { write_reply(out, {2, static_cast<std::uint16_t>(Errc::not_a_member)}); });
    }
    EXPECT_TRUE(session_->writer().is_leaving("news")) << "the second time";
    deliver_frame([](Bytes& out) { write_reply(out, {3, 0}); });
    deliver_frame([](Bytes& out) { write_reply(out, {4, 0}); });
    view_of({"#me#a", "#peer#b"}, {"#me#a"});
    farewell();
    ASSERT_FALSE(session_->join("news", true));
    deliver_frame([](Bytes& out) { write_reply(out, {5, 0}); });
    view_of({"#me#a", "#peer#b"}, {"#me#a"});
    EXPECT_FALSE(session_->writer().is_leaving("news"));
    close(Errc::daemon_stopping, 0);
    ASSERT_EQ(move(), 1u);
    welcome("#me#b");
    EXPECT_TRUE(reconnected().front()->fenced);
  }
}

// What the daemon says of the former join says nothing of the one behind it.
TEST_F(ClientSessionTest, JoinsAgainWhatItHasAskedForBehindWhatIsOver) {
  const auto reply = [](std::uint32_t request, Errc code = {}) {
    return [=](Bytes& out) { write_reply(out, {request, static_cast<std::uint16_t>(code)}); };
  };
  const auto refused = [](Refused::What what, Errc code) {
    return [=](Bytes& out) { write_refused(out, {what, static_cast<std::uint16_t>(code), 0, "news"}); };
  };
  const auto is_joined_again = [&] {
    said();
    close(Errc::daemon_stopping, 0);
    EXPECT_EQ(move(), 1u);
    welcome("#me#b");
    return std::ranges::count(said(), "join") == 1;
  };
  const auto refused_join = refused(Refused::What::join, Errc::mode_mismatch);
  const auto taken_out = refused(Refused::What::membership, Errc::flush_timeout);
  // A join that is refused as its turn in the order comes.
  for (const bool stands : {true, false}) {
    for (const bool is_answered : {true, false}) {
      SCOPED_TRACE(std::to_string(stands) + std::to_string(is_answered));
      begin();
      ASSERT_FALSE(session_->join("news"));
      deliver_frame(reply(1));
      ASSERT_FALSE(session_->leave("news"));
      ASSERT_FALSE(session_->join("news", true));
      if (is_answered) deliver_frame(reply(2));
      if (is_answered) deliver_frame(reply(3));
      deliver_frame(refused_join);
      if (!is_answered) deliver_frame(reply(2, Errc::not_a_member));
      if (!is_answered) deliver_frame(reply(3));
      if (!stands) deliver_frame(refused_join);
      EXPECT_EQ(is_joined_again(), stands);
    }
  }
  // One that is refused at once.
  for (const bool stands : {true, false}) {
    SCOPED_TRACE(stands);
    begin();
    ASSERT_FALSE(session_->join("news"));
    ASSERT_FALSE(session_->join("news", true));
    deliver_frame(reply(1, Errc::mode_mismatch));
    deliver_frame(reply(2, stands ? Errc{} : Errc::mode_mismatch));
    EXPECT_EQ(is_joined_again(), stands);
  }
  // It is taken out of the group; the answer to the join behind that comes with the news of it.
  for (const bool stands : {true, false}) {
    SCOPED_TRACE(stands);
    begin_in_news();
    if (stands) {
      ASSERT_FALSE(session_->join("news", true));
    }
    deliver_frame([&](Bytes& out) {
      taken_out(out);
      if (stands) reply(2)(out);
    });
    EXPECT_EQ(is_joined_again(), stands);
  }
}

TEST_F(ClientSessionTest, WaitsNoMoreForAGroupThatIsLeft) {
  begin_in_news();
  close(Errc::daemon_stopping, 0);
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  send("held");
  EXPECT_THAT(said(), ElementsAre("join"));
  // The thread that reads may be at it meanwhile: what it has put down is left to it.
  read_only([&](Bytes& out) { write_news_view(out, {"#me#a", "#me#b", "#peer#b"}, {"#me#b"}, {}); });
  ASSERT_FALSE(session_->leave("news"));
  EXPECT_FALSE(session_->is_fenced());
  EXPECT_EQ(session_->reader().take_seen_views().size(), 1u) << "the reader was touched";
  EXPECT_THAT(said(), ElementsAre("define", "held", "frame 6"));
  session_->settle(now_);
  read_only([&](Bytes& out) { write_news_view(out, {"#me#b", "#peer#b"}, {}, {"#me#a"}); });
  EXPECT_TRUE(session_->reader().take_seen_views().empty()) << "nobody looks for them any more";
}

// What waits for the end of a former session has not been sent, and the daemon says nothing of it.
TEST_F(ClientSessionTest, BehindAFenceHoldsOn) {
  begin();
  ASSERT_FALSE(session_->join("news"));
  said();
  deliver_frame([](Bytes& out) { write_reply(out, {1, 0}); });
  view_of({"#me#a"}, {"#me#a"});
  close(Errc::daemon_stopping, 0);
  ASSERT_EQ(move(), 1u);
  send("first", 1);
  welcome("#me#b");
  send("second", 2);
  EXPECT_THAT(said(), ElementsAre("join"));
  go();
  EXPECT_THAT(said(), ElementsAre("confirm"));
  view_of({"#me#b"}, {"#me#b"}, {});
  EXPECT_FALSE(session_->is_fenced());
  EXPECT_THAT(said(), IsEmpty()) << "the fence is open, and the daemon goes";
  confirm(asked_, 0);
  EXPECT_THAT(said(), ElementsAre("bye"));
  close(Errc::closed_by_client, 0);
  ASSERT_EQ(move(), 0u);
  welcome("#me#a2");
  ASSERT_EQ(reconnected().size(), 2u);
  EXPECT_THAT(reconnected().back()->unknown, IsEmpty());
  EXPECT_THAT(said(), ElementsAre("join"));
  view_of({"#me#a2"}, {"#me#a2"}, {"#me#b"});
  EXPECT_THAT(said(), ElementsAre("define", "first", "second"));
}

TEST_F(ClientSessionTest, OfFlowsByThemselvesNamesNothing) {
  SessionOptions independent = options();
  independent.flags = kIndependentFlowsBit;
  begin(independent);
  ASSERT_FALSE(session_->multicast(Service::agreed, "news", "one", {.ticket = 1}));
  ASSERT_FALSE(session_->multicast(Service::agreed, "other", "two", {.ticket = 2}));
  go();
  said();
  send("three", 3);
  confirm(asked_, 2);
  said();
  close(Errc::closed_by_client, 2);
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  EXPECT_THAT(reconnected().front()->unknown, IsEmpty());
  const std::vector<std::string> words = said();
  EXPECT_EQ(words.back(), "three");
  EXPECT_EQ(std::count(words.begin(), words.end(), "one"), 0);
}

TEST_F(ClientSessionTest, ShowsLifeWhileItWaits) {
  begin();
  go();
  said();
  now_ += 10s;
  session_->handle_time(now_);
  EXPECT_THAT(said(), ElementsAre("frame 11")) << "it has something to tell";
  now_ += 10s;
  session_->handle_time(now_);
  EXPECT_THAT(said(), ElementsAre("ping"));
  for (int i = 0; i < 4 && !session_->take_hang_up(); ++i) {
    now_ += 10s;
    session_->handle_time(now_);
  }
  ASSERT_EQ(move(), 1u) << "the daemon is silent";
  EXPECT_FALSE(read_hello(hello_.body)->resume);
}

TEST_F(ClientSessionTest, AnswersAFlushRequestElsewhereOrNever) {
  begin();
  ASSERT_FALSE(session_->join("news", true));
  said();
  deliver_frame([](Bytes& out) { write_reply(out, {1, 0}); });
  view_of({"#me#a"}, {"#me#a"});
  go();
  deliver_frame([](Bytes& out) { write_flush(out, ClientFrame::flush_request, {3, "news"}); });
  const FlushRequest request{"news", 1};
  EXPECT_FALSE(session_->flush_ok(request));
  EXPECT_THAT(said(), ElementsAre("confirm"));
  confirm(asked_, 0);
  close(Errc::closed_by_client, 0);
  said();
  ASSERT_EQ(move(), 1u);
  welcome("#me#b");
  EXPECT_FALSE(session_->flush_ok(request)) << "the request was that of a former session";
  EXPECT_THAT(said(), ElementsAre("join"));
}

}  // namespace
}  // namespace spindle::protocol
