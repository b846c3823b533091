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
  ConnectionId connect(bool may_come_back, std::uint32_t keepalive_ms = 0) {
    Peer peer("a client", {});
    peer.may_come_back = may_come_back;
    const ConnectionId connection = accept(peer);
    std::vector<std::uint8_t> frame;
    protocol::write_hello(frame, {.name = {}, .is_resumable = may_come_back, .keepalive_ms = keepalive_ms});
    read(connection, frame);
    return connection;
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

TEST_F(ManySessions, NamesThatOthersHaveTakenAreGoneThroughOnce) {
  const auto connect_as = [&](const std::string& name) {
    const ConnectionId connection = accept();
    std::vector<std::uint8_t> frame;
    protocol::write_hello(frame, {.name = name});
    read(connection, frame);
    return connection;
  };
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
