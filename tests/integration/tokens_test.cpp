// Clients that prove who they are by a token: who is let in, by which ways, and what both sides are told otherwise.
#include <gmock/gmock.h>
#include <signal.h>

#include "libclient/common/token.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/tls/token_digest.h"
#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/raw_socket.h"
#include "tests/integration/tls_peer.h"

namespace spindle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string token_of(char digit) { return std::string(kTokenPrefix) + std::string(2 * kTokenRandomBytes, digit); }

std::string section(const std::string& name, const std::string& token, const std::string& more = {}) {
  return "[[token]]\nname = \"" + name + "\"\nsha256 = \"" + token_digest(token) + "\"\n" + more;
}

/// A daemon that takes clients by TLS, at the unix socket, and by the tokens "web" and "old".
class TokenClients : public testing::Test {
 protected:
  TokenClients() { start(section("web", web_) + section("old", old_, "until = 2020-02-29\n")); }

  void start(const std::string& configuration) {
    DaemonOptions options = identities_.daemon("alpha");
    tls_ = options.configuration;
    options.client_address = "tls:127.0.0.1:0";
    options.configuration += configuration;
    daemon_.emplace(options);
  }
  ConnectOptions by_tls(const std::string& token, const std::string& name = {}) {
    ConnectOptions options;
    options.address = daemon_->client_address();
    options.tls_bundle = identities_.authority_file();
    options.token = token;
    options.name = name;
    options.connect_timeout = kPatience;
    options.reconnect_timeout = {};  // tests look at the end of a connection
    return options;
  }
  ConnectOptions by_unix_socket(const std::string& token, const std::string& name = {}) {
    ConnectOptions options = by_tls(token, name);
    options.address = "unix:" + daemon_->socket();
    return options;
  }
  /// By TLS, with the token in the environment.
  ProcessOptions spuser(const std::vector<std::string>& arguments, const std::string& token) {
    ProcessOptions options;
    options.arguments = {"--connect", daemon_->client_address(), "--bundle", identities_.authority_file()};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    if (!token.empty()) options.environment = {"SPINDLE_TOKEN=" + token};
    return options;
  }
  void expect_refused(const ConnectOptions& options, Errc code, const std::string& words) {
    const Result<Connection> refused = Connection::connect(options);
    EXPECT_EQ(refused.error(), code);
    EXPECT_THAT(refused.text(), HasSubstr(words));
  }

  Identities identities_;
  std::optional<Daemon> daemon_;
  std::string tls_;  // the section of the configuration
  const std::string web_ = token_of('1'), old_ = token_of('2'), unknown_ = token_of('3');
};

TEST_F(TokenClients, ComeByTlsWithoutACertificate) {
  Connection sender = Connection::connect(by_tls(web_)).value();
  Connection receiver = Connection::connect(by_tls(web_)).value();
  EXPECT_FALSE(receiver.join("news"));
  wait_for_members(receiver, "news", {std::string(receiver.private_name())});
  EXPECT_FALSE(sender.multicast(Service::agreed, "news", "hello"));
  EXPECT_EQ(next_message(receiver).text(), "hello");
  EXPECT_THAT(run_spmonitor(*daemon_, {"sessions", "--json"}).out, HasSubstr("token:web"));
  EXPECT_EQ(daemon_->count("tokens_refused"), 0u);
}

TEST_F(TokenClients, ComeToTheUnixSocketAndWithACertificateToo) {
  ConnectOptions with_certificate = by_tls(web_);
  with_certificate.tls_bundle = identities_.bundle("client/feed");
  for (const ConnectOptions& options : {by_unix_socket(web_), by_unix_socket(""), with_certificate}) {
    EXPECT_TRUE(Connection::connect(options));
  }
  with_certificate.token = unknown_;
  expect_refused(with_certificate, Errc::token_unknown, "not known");
}

TEST_F(TokenClients, OthersAreRefusedAndToldWhy) {
  for (const auto& options : {by_tls(unknown_), by_unix_socket(unknown_)}) {
    expect_refused(options, Errc::token_unknown, "the token is not known to the daemon");
  }
  for (const auto& options : {by_tls(old_), by_unix_socket(old_)}) {
    expect_refused(options, Errc::token_expired, "the token old has expired: it counted until 2020-02-29");
  }
  expect_refused(by_tls(""), Errc::token_missing, "has to send a token");
  EXPECT_EQ(daemon_->count("tokens_refused"), 5u);
  daemon_->process().wait_for_line("is refused: the token is not known to the daemon");
  EXPECT_THAT(daemon_->process().transcript(), Not(HasSubstr(std::string(kTokenPrefix))));
  daemon_->expect_serving();
}

TEST_F(TokenClients, AreHeldToTheCertificateOfTheDaemon) {
  Identities strangers;
  ConnectOptions options = by_tls(web_);
  options.tls_bundle = strangers.authority_file();
  expect_refused(options, Errc::tls_failed, "signed by no CA certificate that is known here");
}

TEST_F(TokenClients, SendNoTokenWhereOthersCouldReadIt) {
  DaemonOptions options;
  options.configuration = section("web", web_);
  Daemon plain(options);
  ConnectOptions connect = by_tls(web_);
  connect.address = plain.client_address();
  expect_refused(connect, Errc::token_exposed, "connect by \"tls:\" or to a unix socket");
  // One that does so all the same.
  RawSocket socket(plain.client_address());
  Bytes hello;
  protocol::write_hello(hello, {.name = {}, .token = web_});
  socket.write(hello);
  const std::optional<RawFrame> answer = socket.read_frame();
  ASSERT_TRUE(answer && answer->type == static_cast<std::uint8_t>(protocol::ClientFrame::close));
  const auto close = protocol::read_close(answer->body);
  EXPECT_EQ(close->code, static_cast<std::uint16_t>(Errc::token_exposed));
  EXPECT_THAT(std::string(close->text), HasSubstr("have another one made"));
  EXPECT_EQ(plain.count("tokens_refused"), 1u);
}

TEST_F(TokenClients, AreNamedByRulesAndReservedNames) {
  start(section("web", web_) + section("feed", old_) +
        "[[access]]\nwho = [\"token:feed\"]\ngroups = [\"*\"]\nallow = [\"send\", \"join\", \"create\"]\n"
        "[[access]]\nwho = [\"token:*\"]\ngroups = [\"news\"]\nallow = [\"join\"]\n"
        "[[names]]\npattern = \"feed\"\nwho = [\"token:feed\"]\n");
  expect_refused(by_tls(web_, "feed"), Errc::access_denied, "is reserved for others");
  Connection feed = Connection::connect(by_unix_socket(old_, "feed")).value();
  Connection web = Connection::connect(by_tls(web_, "web")).value();
  EXPECT_FALSE(feed.join("news"));
  wait_for_members(feed, "news", {"#feed#alpha"});
  EXPECT_FALSE(web.join("news"));
  wait_for_members(web, "news", {"#feed#alpha", "#web#alpha"});
  EXPECT_FALSE(web.multicast(Service::agreed, "news", "not allowed"));
  EXPECT_FALSE(feed.multicast(Service::agreed, "news", "first"));
  EXPECT_EQ(next_message(web).text(), "first");
  daemon_->process().wait_for_line("token:web, may not send to news");
}

TEST_F(TokenClients, GoWhenTheirTokenIsRemovedAndOthersStay) {
  Connection web = Connection::connect(by_tls(web_)).value();
  Connection at_the_socket = Connection::connect(by_unix_socket(web_)).value();
  Connection without = daemon_->connect("without");
  daemon_->reload(tls_ + section("new", unknown_) + section("old", old_, "until = 2020-02-29\n"));
  for (Connection* client : {&web, &at_the_socket}) {
    const Disconnected end = wait_for_end(*client);
    EXPECT_EQ(end.error, Errc::token_unknown);
    EXPECT_THAT(end.text, HasSubstr("has been removed"));
  }
  daemon_->process().wait_for_line("from now on entries: [[token]] 2");
  expect_refused(by_tls(web_), Errc::token_unknown, "not known");
  Connection next = Connection::connect(by_tls(unknown_)).value();
  EXPECT_FALSE(without.multicast(Service::reliable, without.private_name(), "still here"));
  EXPECT_EQ(next_message(without).text(), "still here");

  // An end that is over by now ends nothing.
  daemon_->reload(tls_ + section("new", unknown_, "until = 2020-02-29\n"));
  daemon_->process().wait_for_line("from now on entries: [[token]] 1");
  expect_refused(by_tls(unknown_), Errc::token_expired, "has expired");
  EXPECT_FALSE(next.multicast(Service::reliable, next.private_name(), "still here"));
  EXPECT_EQ(next_message(next).text(), "still here");

  daemon_->reload(tls_);
  EXPECT_EQ(wait_for_end(next).error, Errc::token_unknown);
  daemon_->process().wait_for_line("from now on entries: [[token]] 0");
  expect_refused(by_tls(unknown_), Errc::tls_failed, "requires a certificate");
}

TEST_F(TokenClients, ThoseWhoProveNothingHoldUpNobody) {
  for (const char* patience_ms : {"3000", "60000"}) {  // of the sessions; that of the handshakes is 5 s
    start(section("web", web_) + "[session]\nhandshake_timeout_ms = " + patience_ms + "\n");
    const std::string address = daemon_->client_address().substr(std::string_view("tls:").size());
    // As many as may be under way from one address, and each silent.
    constexpr std::size_t kUnderWayOfOneAddress = 16;
    std::vector<std::unique_ptr<TlsPeer>> silent;
    for (std::size_t i = 0; i < kUnderWayOfOneAddress; ++i) {
      silent.push_back(std::make_unique<TlsPeer>(address, TlsPort::client, identities_.authority_file()));
    }
    daemon_->expect_serving();
    // They are sent away in time, and then the next one's handshake begins.
    Connection web = Connection::connect(by_tls(web_)).value();
    EXPECT_TRUE(web.is_open());
    for (const auto& each : silent) each->wait_for_end();
  }
}

TEST_F(TokenClients, AreLostAsOthersAreWhenTheDaemonIsKilled) {
  Connection web = Connection::connect(by_tls(web_)).value();
  daemon_->kill();
  EXPECT_EQ(wait_for_end(web).error, Errc::connection_lost);
}

TEST_F(TokenClients, ThatAreKilledAreNoFailureOfTls) {
  Process subscriber(SPUSER_PATH, spuser({"--name", "victim", "subscribe", "news"}, web_));
  Connection witness = daemon_->connect("witness");
  EXPECT_FALSE(witness.join("news"));
  wait_for_members(witness, "news", {"#witness#alpha", "#victim#alpha"});
  subscriber.signal(SIGKILL);
  wait_for_members(witness, "news", {"#witness#alpha"});
  EXPECT_THAT(daemon_->process().wait_for_line("client victim from").text, HasSubstr("client victim from"));
  EXPECT_THAT(daemon_->process().transcript(), Not(HasSubstr("broke off")));
}

TEST_F(TokenClients, SpuserReadsTheFileAndTheEnvironment) {
  ProcessOptions make;
  make.arguments = {"token", "new", "cli", "--days", "7"};
  const Finished made = run(SPMONITOR_PATH, make);
  ASSERT_EQ(made.code, 0) << made.error;
  const std::string file = identities_.file("cli.token", made.out);
  const std::string token = made.out.substr(0, made.out.find('\n'));
  daemon_->reload(tls_ + section("web", web_) + made.out.substr(token.size()));
  daemon_->process().wait_for_line("from now on entries: [[token]] 2");

  const std::vector<std::string> publish{"publish", "news", "--file", identities_.file("empty", "")};
  std::vector<std::string> by_file{"--token-file", file};
  by_file.insert(by_file.end(), publish.begin(), publish.end());
  EXPECT_EQ(run(SPUSER_PATH, spuser(by_file, {})).error, "");
  EXPECT_EQ(run(SPUSER_PATH, spuser(publish, token)).error, "");
  const Finished none = run(SPUSER_PATH, spuser(publish, {}));
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.error, HasSubstr("has to send a token"));

  by_file[1] = identities_.file("wrong.token", "secret\n");
  const Finished wrong = run(SPUSER_PATH, spuser(by_file, {}));
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.error, AllOf(HasSubstr("wrong.token does not begin with a token"), Not(HasSubstr("secret"))));
  by_file[1] = "/no/such/file";
  EXPECT_THAT(run(SPUSER_PATH, spuser(by_file, {})).error, HasSubstr("/no/such/file cannot be read: No such file"));
}

}  // namespace
}  // namespace spindle::test
