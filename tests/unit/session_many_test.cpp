// What comes of very many clients at the same moment takes several turns.
#include "daemon/session/session_table.h"
#include "tests/unit/sessions_harness.h"

namespace spindled::test {
namespace {

class ManySessions : public SessionsTest {
 protected:
  static constexpr std::size_t kPerTurn = 64;
  static constexpr std::size_t kClients = 200;

  ManySessions() {
    settle();
    NodeConfig next = config();
    next.session.sessions_max = 10'000;
    node_.reconfigure(now_, next);
  }
  ConnectionId connect(bool may_come_back, std::uint32_t keepalive_ms = 0,
                       std::optional<protocol::Resume> resume = {}) {
    Peer peer("a client", {});
    peer.may_come_back = may_come_back;
    const ConnectionId connection = accept(peer);
    std::vector<std::uint8_t> frame;
    protocol::write_hello(frame,
                          {.name = {}, .is_resumable = may_come_back, .resume = resume, .keepalive_ms = keepalive_ms});
    read(connection, frame);
    return connection;
  }
  ConnectionId connect_as(std::string_view name) {
    const ConnectionId connection = accept();
    std::vector<std::uint8_t> frame;
    protocol::write_hello(frame, {.name = name});
    read(connection, frame);
    return connection;
  }
  protocol::Welcome welcome_of(ConnectionId connection) {
    return protocol::read_welcome(frames_of(connection, ClientFrame::welcome).at(0)).value();
  }
  std::vector<ConnectionId> connect_many(std::size_t count, bool may_come_back, std::uint32_t keepalive_ms = 0) {
    std::vector<ConnectionId> connections;
    for (std::size_t i = 0; i < count; ++i) connections.push_back(connect(may_come_back, keepalive_ms));
    turn();
    return connections;
  }
  void ping(ConnectionId connection) {
    std::vector<std::uint8_t> frame;
    protocol::write_ping(frame, ClientFrame::ping, 1);
    read(connection, frame);
  }
  /// Turns until `count` says `all`, in none of which it grows by more than so many. How many did.
  template <typename Count>
  int expect_shares(Count&& count, std::size_t all, std::size_t most = kPerTurn) {
    int turns = 0;
    std::size_t before = count();
    for (int i = 0; i < 2'000 && before < all; ++i) {
      turn();
      const std::size_t now = count();
      EXPECT_LE(now, before + most);
      turns += now != before ? 1 : 0;
      before = now;
    }
    EXPECT_EQ(before, all);
    return turns;
  }
};

TEST_F(ManySessions, AreWrittenLittleInSeveralTurns) {
  constexpr std::size_t kMany = 5'000;
  const std::vector<ConnectionId> clients = connect_many(kMany, false);
  for (int i = 0; i < 5; ++i) turn();
  const auto answered = [&] {
    return static_cast<std::size_t>(std::count_if(clients.begin(), clients.end(), [&](ConnectionId client) {
      return !frames_of(client, ClientFrame::pong).empty();
    }));
  };
  ASSERT_EQ(answered(), 0u);
  for (const ConnectionId client : clients) ping(client);
  EXPECT_EQ(expect_shares(answered, kMany, 2'048), 3) << "a write takes as long as one of 4 KiB";
}

TEST_F(ManySessions, ThatFallSilentLoseTheirConnectionsOverSeveralTurns) {
  const std::vector<ConnectionId> clients = connect_many(kClients, true, 1'000);
  const auto lost = [&] { return driver_.closed.size(); };
  while (lost() == 0) turn();
  EXPECT_EQ(lost(), kPerTurn);
  ping(clients.back());  // just in time
  expect_shares(lost, kClients - 1);
  EXPECT_FALSE(driver_.closed.contains(clients.back()));
  EXPECT_EQ(node_.sessions(), kClients) << "they may come back";
}

TEST_F(ManySessions, ThatDoNotComeBackEndOverSeveralTurns) {
  for (const ConnectionId client : connect_many(kClients, true)) node_.handle_closed(now_, client, "gone");
  turn();
  ASSERT_EQ(node_.sessions(), kClients);
  EXPECT_GE(expect_shares([&] { return kClients - node_.sessions(); }, kClients), 3);
}

TEST_F(ManySessions, ThatAreLostAtOnceEndOverSeveralTurns) {
  for (const ConnectionId client : connect_many(kClients, false)) node_.handle_closed(now_, client, "gone");
  EXPECT_GE(expect_shares([&] { return kClients - node_.sessions(); }, kClients), 3);
}

TEST_F(ManySessions, WhoseTokensCountNoLongerAreClosedOverSeveralTurns) {
  const std::vector<ConnectionId> clients = connect_many(kClients, false);
  for (const ConnectionId client : clients) node_.handle_revoked(now_, client);
  EXPECT_EQ(closes(Errc::token_unknown), kPerTurn);
  expect_shares([&] { return static_cast<std::size_t>(closes(Errc::token_unknown)); }, kClients);
}

TEST_F(ManySessions, WhoIsGoneGivesItsNameBackAtOnce) {
  std::vector<ConnectionId> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(connect_as(fmt::format("c{}", i)));
  turn();
  for (const ConnectionId client : clients) node_.handle_closed(now_, client, "gone");
  turn();
  ASSERT_GT(node_.sessions(), 0u) << "most of them wait for their turn";
  const ConnectionId again = connect_as(fmt::format("c{}", kClients - 1));
  turn();
  EXPECT_EQ(frames_of(again, ClientFrame::welcome).size(), 1u);
  for (int i = 0; i < 10; ++i) turn();
  EXPECT_EQ(node_.sessions(), 1u);
}

TEST_F(ManySessions, WhoHasComeBackIsNotClosedForTheConnectionThatItHad) {
  const std::vector<ConnectionId> clients = connect_many(kPerTurn + 1, true);
  turn();
  const protocol::Resume resume{welcome_of(clients.back()).resumable->key, 0};
  for (const ConnectionId client : clients) node_.handle_revoked(now_, client);
  const ConnectionId again = connect(true, 0, resume);
  for (int i = 0; i < 5; ++i) turn();
  ASSERT_TRUE(welcome_of(again).resumed);
  EXPECT_EQ(closes(Errc::token_unknown), kPerTurn);
  ping(again);
  turn();
  EXPECT_EQ(frames_of(again, ClientFrame::pong).size(), 1u);
}

TEST_F(ManySessions, AnswersToSmallQuestionsWithoutEndLeaveRoomForMessages) {
  const ConnectionId bob = open_member("bob");
  const std::vector<ConnectionId> clients = connect_many(5'000, false);
  const auto ask = [&](int turns) {
    for (int i = 0; i < turns; ++i) {
      for (const ConnectionId client : clients) ping(client);
      turn();
    }
  };
  ask(5);
  std::vector<std::uint8_t> message;
  write_typed(message, 1, 10);
  read(bob, message);
  ask(50);
  EXPECT_EQ(got(bob).size(), 1u);
}

/// A turn may do one unit, and takes two names of clients.
class FewUnits : public SessionsTest {
 protected:
  FewUnits() : SessionsTest(few()) {}
  static NodeConfig few() {
    NodeConfig few = config();
    few.session.sessions_max = 10;
    few.turn_work_max = 1;
    return few;
  }
};

TEST_F(FewUnits, WhoWasNotAskedGoesBeforeThoseThatAreAskedInVain) {
  // Nothing enters before there is a view.
  for (int i = 0; i < 4; ++i) {
    const ConnectionId client = accept();
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = fmt::format("c{}", i)});
    protocol::write_define(frames, {0, {"news"}});
    write_typed(frames, 1, 10);
    read(client, frames);
  }
  const ConnectionId dan = accept();
  std::vector<std::uint8_t> frames;
  protocol::write_hello(frames, {.name = "dan"});
  for (int i = 0; i < 10; ++i) protocol::write_ping(frames, ClientFrame::ping, 1);
  read(dan, frames);
  for (int i = 0; i < 60; ++i) {
    node_.reconfigure(now_, few());  // which is news
    now_ += 10us;
    node_.handle_time(now_);
    node_.end_turn(now_);
  }
  EXPECT_FALSE(node_.is_settled());
  EXPECT_EQ(frames_of(dan, ClientFrame::pong).size(), 10u);
}

TEST_F(ManySessions, NamesThatOthersHaveTakenAreGoneThroughOnce) {
  const auto name_of = [&](ConnectionId connection) {
    turn();
    const auto welcome = protocol::read_welcome(frames_of(connection, ClientFrame::welcome).front());
    return std::string(welcome->private_name);
  };
  std::map<int, ConnectionId> taken;
  for (int i = 50; i < 150; ++i) taken[i] = connect_as(fmt::format("c{}", i));  // these are the first to the 100th
  EXPECT_EQ(name_of(connect_as("")), "#c150#alpha");
  node_.handle_closed(now_, taken[149], "gone");
  EXPECT_EQ(name_of(connect_as("")), "#c151#alpha") << "it is not sought from its own number on";
}

}  // namespace
}  // namespace spindled::test
