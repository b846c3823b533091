// Clients by TLS: who is let in, and what both sides are told where somebody is not.
#include <gmock/gmock.h>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

/// A daemon that takes clients by TLS.
class TlsClients : public testing::Test {
 protected:
  TlsClients() {
    DaemonOptions options = identities_.daemon("alpha");
    options.client_address = "tls:127.0.0.1:0";
    daemon_.emplace(options);
  }

  ConnectOptions options(const std::string& bundle) const {
    ConnectOptions options;
    options.address = daemon_->client_address();
    options.tls_bundle = bundle;
    options.connect_timeout = kPatience;
    options.reconnect_timeout = {};  // tests look at the end of a connection
    return options;
  }
  /// Why a client is refused.
  std::string refusal(const ConnectOptions& options, std::error_code& error) {
    const Result<Connection> refused = Connection::connect(options);
    error = refused.error();
    return refused.text();
  }

  Identities identities_;
  std::optional<Daemon> daemon_;
};

TEST_F(TlsClients, TalkToEachOther) {
  Connection sender = Connection::connect(options(identities_.bundle("client/feed"))).value();
  Connection receiver = Connection::connect(options(identities_.bundle("operator/anna"))).value();
  EXPECT_FALSE(receiver.join("news"));
  wait_for_members(receiver, "news", {std::string(receiver.private_name())});
  for (const std::size_t size : {0u, 1u, 16'383u, 16'384u, 100'000u, 10'000'000u}) {
    EXPECT_FALSE(sender.multicast(Service::agreed, "news", std::string(size, 'x')));
    EXPECT_EQ(next_message(receiver).text(), std::string(size, 'x'));
  }
  EXPECT_EQ(daemon_->count("tls_handshakes"), 2u);
  const Finished clients = run_spmonitor(*daemon_, {"sessions", "--json"});
  EXPECT_THAT(clients.out, HasSubstr("cert:feed"));
  EXPECT_THAT(clients.out, HasSubstr("operator:anna"));
}

TEST_F(TlsClients, AreToldThatNothingOfTheirsWasLost) {
  Connection sender = Connection::connect(options(identities_.bundle("client/feed"))).value();
  Connection receiver = Connection::connect(options(identities_.bundle("client/sink"))).value();
  EXPECT_FALSE(receiver.join("news"));
  wait_for_members(receiver, "news", {std::string(receiver.private_name())});
  constexpr int kMessages = 5000;
  for (int i = 0; i < kMessages; ++i) EXPECT_FALSE(sender.multicast(Service::agreed, "news", std::to_string(i)));
  EXPECT_EQ(sender.disconnect().messages, 0u);
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(next_message(receiver).text(), std::to_string(i));
}

TEST_F(TlsClients, AnotherCaIsToldOnBothSides) {
  Identities strangers;
  std::error_code error;
  EXPECT_THAT(refusal(options(strangers.bundle("client/feed")), error),
              HasSubstr("the peer's certificate is signed by no CA certificate that is known here"));
  EXPECT_EQ(error, Errc::tls_failed);
  daemon_->process().wait_for_line("is refused: the peer knows no CA certificate");
  EXPECT_EQ(daemon_->count("tls_handshakes_refused"), 1u);
  daemon_->expect_serving();
}

TEST_F(TlsClients, ACertificateThatHasExpiredIsToldBeforeAnythingIsSent) {
  CertificateContents contents = Identities::contents("client/feed");
  contents.until = contents.from + std::chrono::hours(1);
  std::error_code error;
  EXPECT_THAT(refusal(options(identities_.bundle(contents, identities_.authority())), error), HasSubstr("has expired"));
  EXPECT_EQ(error, Errc::tls_failed);
}

TEST_F(TlsClients, WithoutACertificateIsRefused) {
  std::error_code error;
  EXPECT_THAT(refusal(options(identities_.authority_file()), error), HasSubstr("requires a certificate"));
  EXPECT_EQ(error, Errc::tls_failed);
  daemon_->process().wait_for_line("is refused: the peer has no certificate, which is required here");
}

TEST_F(TlsClients, FilesThatAreOfNoUseAreNamed) {
  std::error_code error;
  EXPECT_THAT(refusal(options(""), error), HasSubstr("SPINDLE_TLS_BUNDLE"));
  EXPECT_EQ(error, Errc::tls_failed);
  EXPECT_THAT(refusal(options("/no/such/file.pem"), error), HasSubstr("/no/such/file.pem: No such file"));
  EXPECT_EQ(error, Errc::tls_failed);
  EXPECT_THAT(refusal(options(identities_.file("empty.pem", "")), error), HasSubstr("empty.pem: "));
  EXPECT_EQ(error, Errc::tls_failed);
}

TEST_F(TlsClients, WhoConnectsPlainlyIsRefused) {
  ConnectOptions plain = options("");
  plain.address = plain.address.substr(std::string_view("tls:").size());
  std::error_code error;
  refusal(plain, error);
  EXPECT_TRUE(error);
  daemon_->process().wait_for_line("is refused: what came is not TLS");
  daemon_->expect_serving();
}

TEST_F(TlsClients, ADaemonThatIsKilledIsNoFailureOfTls) {
  Connection client = Connection::connect(options(identities_.bundle("client/feed"))).value();
  daemon_->kill();
  const Event last = next_event(client);
  const auto* disconnected = last.get_if<Disconnected>();
  ASSERT_NE(disconnected, nullptr);
  EXPECT_EQ(disconnected->error, Errc::connection_lost);
}

TEST_F(TlsClients, SpuserRefusesADaemonWhoseCertificateIsRevoked) {
  const std::string serial = identities_.last_serial();
  const std::string lists =
      identities_.file("revoked.crl", identities_.authority().revoke({serial}, Identities::tomorrow()));
  ProcessOptions process;
  process.arguments = {"--connect",
                       daemon_->client_address(),
                       "--bundle",
                       identities_.bundle("client/feed"),
                       "--revocation-lists",
                       lists,
                       "publish",
                       "news"};
  const Finished finished = run(SPUSER_PATH, process);
  EXPECT_NE(finished.code, 0);
  EXPECT_THAT(finished.error, HasSubstr("revoked"));
}

TEST_F(TlsClients, SpuserTakesTheFileOnItsCommandLine) {
  ProcessOptions process;
  process.arguments = {"--connect", daemon_->client_address(),
                       "--bundle",  identities_.bundle("client/feed"),
                       "--name",    "reader",
                       "subscribe", "news",
                       "--count",   "1"};
  Process subscriber(SPUSER_PATH, process);
  Connection sender = daemon_->connect("sender");
  EXPECT_FALSE(sender.join("news"));
  wait_for_members(sender, "news", {std::string(sender.private_name()), "#reader#alpha"});
  EXPECT_FALSE(sender.multicast(Service::agreed, "news", "by TLS"));
  EXPECT_EQ(subscriber.wait(), 0);
  EXPECT_EQ(subscriber.output(Process::Stream::out), "by TLS\n");
}

}  // namespace
}  // namespace spindle::test
