// What tokens make of a client, within a whole daemon.
#include "tests/unit/sessions_harness.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

class SessionToken : public test::SessionsTest {
 protected:
  SessionToken() {
    driver_.tokens.emplace("secret", "token:web");
    driver_.tokens.emplace("old", fail(Errc::token_expired, "the token old has expired"));
  }
  /// One that says hello, with a token or without.
  ConnectionId greet(const Peer& peer, std::string_view token, std::string_view name = {}) {
    settle();
    const ConnectionId connection = accept(peer);
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = name, .token = token});
    read(connection, frames);
    turn();
    return connection;
  }
  static Peer by_unix_socket() {
    Peer peer("pid 1, uid 7", {"uid:7"});
    peer.is_private = true;
    return peer;
  }
  /// By TLS, without a certificate.
  static Peer stranger() {
    Peer peer("192.0.2.1:4711");
    peer.is_private = peer.needs_token = true;
    return peer;
  }
  static Peer by_plain_tcp() { return Peer("127.0.0.1:4711", {"local"}); }
  bool is_welcome(ConnectionId connection) { return !frames_of(connection, ClientFrame::welcome).empty(); }
  void expect_refused(ConnectionId connection, Errc code) {
    EXPECT_FALSE(is_welcome(connection));
    EXPECT_EQ(close_of(connection).code, static_cast<std::uint16_t>(code));
  }
};

TEST_F(SessionToken, ThoseThatAreKnownLetIn) {
  EXPECT_TRUE(is_welcome(greet(stranger(), "secret")));
  EXPECT_TRUE(is_welcome(greet(by_unix_socket(), "secret")));
  EXPECT_TRUE(is_welcome(greet(by_unix_socket(), "")));
  EXPECT_EQ(count(Counter::tokens_refused), 0u);
}

TEST_F(SessionToken, OthersAreRefusedAndNeverTold) {
  expect_refused(greet(stranger(), "seecret"), Errc::token_unknown);
  expect_refused(greet(by_unix_socket(), "seecret"), Errc::token_unknown);
  const ConnectionId late = greet(stranger(), "old");
  expect_refused(late, Errc::token_expired);
  EXPECT_EQ(close_of(late).text, "the token old has expired");
  expect_refused(greet(stranger(), ""), Errc::token_missing);
  EXPECT_EQ(count(Counter::tokens_refused), 4u);
  EXPECT_EQ(count(Counter::sessions_refused), 4u);
  EXPECT_EQ(closes(Errc::token_unknown), 2u);
  EXPECT_EQ(logged("a client from 192.0.2.1:4711 is refused: the token is not known to the daemon"), 1u);
  EXPECT_EQ(logged("seecret"), 0u);
}

TEST_F(SessionToken, ThoseThatOthersCouldReadAreRefusedHoweverGoodTheyAre) {
  for (const char* token : {"secret", "seecret"}) {
    const ConnectionId connection = greet(by_plain_tcp(), token);
    expect_refused(connection, Errc::token_exposed);
    EXPECT_NE(close_of(connection).text.find("have another one made"), std::string_view::npos);
  }
  EXPECT_TRUE(is_welcome(greet(by_plain_tcp(), "")));
  EXPECT_EQ(count(Counter::tokens_refused), 2u);
}

TEST_F(SessionToken, AreIdentitiesBesideTheOthers) {
  RightSet join;
  join.insert(Right::join);
  join.insert(Right::create);
  AccessConfig access;
  access.rules = {{{"token:web"}, {"web"}, join}, {{"uid:7"}, {"users"}, join}};
  access.names = {{"web-*", {"token:w*"}}};
  reconfigure(access);
  expect_refused(greet(by_unix_socket(), "", "web-1"), Errc::access_denied);
  const ConnectionId both = greet(by_unix_socket(), "secret", "web-1");
  EXPECT_TRUE(is_welcome(both));
  EXPECT_EQ(ask(both, ClientFrame::join, "web"), kDone);
  EXPECT_EQ(ask(both, ClientFrame::join, "users"), kDone);
  const ConnectionId user = greet(by_unix_socket(), "", "user");
  EXPECT_EQ(ask(user, ClientFrame::join, "web"), Errc::access_denied);
  const ConnectionId web = greet(stranger(), "secret", "web-2");
  EXPECT_EQ(ask(web, ClientFrame::join, "web"), kDone);
  EXPECT_EQ(ask(web, ClientFrame::join, "users"), Errc::access_denied);
  EXPECT_EQ(logged("client web-2 from 192.0.2.1:4711, token:web, may not join users"), 1u);
}

TEST_F(SessionToken, HaveQuotasOfTheirOwn) {
  AccessConfig access;
  access.quotas = {{{"token:web"}, {1, 0, 0}}, {{"uid:7"}, {1, 0, 0}}};
  reconfigure(access);
  EXPECT_TRUE(is_welcome(greet(by_unix_socket(), "")));
  EXPECT_TRUE(is_welcome(greet(by_unix_socket(), "secret"))) << "it counts for the token";
  expect_refused(greet(stranger(), "secret"), Errc::too_many_sessions);
}

TEST_F(SessionToken, ClientsOfOneThatIsRemovedAreToldAndGo) {
  const ConnectionId web = greet(stranger(), "secret", "web");
  const ConnectionId other = greet(by_unix_socket(), "", "other");
  EXPECT_EQ(ask(web, ClientFrame::join, "news"), kDone);
  node_.handle_revoked(now_, web);
  node_.handle_revoked(now_, web);
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(close_of(web).code, static_cast<std::uint16_t>(Errc::token_unknown));
  EXPECT_EQ(close_of(web).text, "the token has been removed from the configuration of the daemon");
  EXPECT_TRUE(driver_.closed.contains(web));
  EXPECT_EQ(node_.memory().memberships, 0u);
  EXPECT_EQ(ask(other, ClientFrame::join, "news"), kDone);
}

}  // namespace
}  // namespace spindled
