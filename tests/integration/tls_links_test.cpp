// Links by TLS: who gets one, who does not, and what both sides are told, against real daemons and the `openssl`
// command.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/needs.h"
#include "tests/integration/openssl.h"
#include "tests/integration/raw_socket.h"
#include "tests/integration/tls_peer.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

/// Two daemons of which beta dials alpha; both serve, and go on doing so.
class TlsLinks : public testing::Test {
 protected:
  /// What `openssl s_client` at alpha's address for links says until alpha has closed the connection.
  std::string connect_to_alpha(std::vector<std::string> arguments, int input = -1) {
    const std::vector<std::string> all{"s_client", "-connect", alpha_->link_address(), "-ign_eof"};
    arguments.insert(arguments.begin(), all.begin(), all.end());
    const Finished finished = openssl(std::move(arguments), input);
    return finished.out + finished.error;
  }
  /// The same for a certificate, as a daemon would.
  std::string connect_with(const std::string& bundle, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"-alpn", "spindle-link/1", "-cert", bundle, "-key", bundle};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return connect_to_alpha(std::move(arguments));
  }
  /// A daemon that dials alpha.
  std::unique_ptr<Daemon> dial_alpha(DaemonOptions options) {
    options.neighbours = {alpha_->link_address()};
    return std::make_unique<Daemon>(options);
  }
  void start_alpha(const std::string& more = {}) { alpha_.emplace(identities_.daemon("alpha", more)); }

  Identities identities_;
  std::optional<Daemon> alpha_;
};

TEST_F(TlsLinks, DaemonsOfOneCaFindEachOther) {
  start_alpha();
  const auto beta = dial_alpha(identities_.daemon("beta"));
  Connection a = alpha_->connect("a");
  Connection b = beta->connect("b");
  EXPECT_FALSE(a.join("news"));
  EXPECT_FALSE(b.join("news"));
  wait_for_members(a, "news", {std::string(a.private_name()), std::string(b.private_name())});
  EXPECT_FALSE(b.multicast(Service::agreed, "news", std::string(1 << 20, 'x')));
  EXPECT_EQ(next_message(a).text().size(), 1u << 20);
  EXPECT_EQ(alpha_->count("tls_handshakes"), 1u);
  EXPECT_EQ(beta->count("tls_handshakes"), 1u);
  EXPECT_EQ(alpha_->count("tls_handshakes_refused"), 0u);
}

TEST_F(TlsLinks, OneCertificateForAllDaemons) {
  start_alpha();
  DaemonOptions options;
  options.name = "beta";
  options.configuration = "[tls]\nbundle = \"" + identities_.bundle("daemon/*") + "\"\n";
  const auto beta = dial_alpha(options);
  beta->process().wait_for_line("link to alpha up");
}

TEST_F(TlsLinks, AnotherCaIsRefused) {
  start_alpha();
  Identities strangers;
  const auto beta = dial_alpha(strangers.daemon("beta"));
  beta->process().wait_for_line("the peer's certificate is signed by no CA certificate that is known here");
  alpha_->process().wait_for_line("the peer knows no CA certificate that this side's certificate is signed by");
  alpha_->expect_serving();
  EXPECT_EQ(alpha_->count("links_up"), 0u);
}

TEST_F(TlsLinks, WhoComesBackWithACertificateOfAnotherCaIsToldOf) {
  start_alpha();
  const auto beta = dial_alpha(identities_.daemon("beta"));
  beta->process().wait_for_line("link to alpha up");
  alpha_->kill();
  beta->process().wait_for_line("Connection refused");
  Identities strangers;
  DaemonOptions again = strangers.daemon("alpha");
  again.link_address = alpha_->link_address();
  const Daemon stranger(again);
  beta->process().wait_for_line("connect_failed: the peer's certificate is signed by no CA certificate");
}

TEST_F(TlsLinks, ADaemonWithoutACertificateIsRefused) {
  start_alpha();
  DaemonOptions options;
  options.name = "beta";
  const auto beta = dial_alpha(options);
  alpha_->process().wait_for_line("is refused: what came is not TLS");
  EXPECT_EQ(alpha_->count("links_up"), 0u);
}

TEST_F(TlsLinks, OpensslIsToldWhyItIsRefused) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  const std::string revoked = identities_.bundle("daemon/revoked");
  const std::string lists = identities_.authority().revoke({identities_.last_serial()}, Identities::tomorrow());
  start_alpha("revocation_lists = \"" + identities_.file("revoked.crl", lists) + "\"\n");
  const auto beta = dial_alpha(identities_.daemon("beta"));
  beta->process().wait_for_line("link to alpha up");
  MessageStream stream(*alpha_, *beta);
  TestAuthority other;
  CertificateContents expired = Identities::contents("daemon/gamma");
  expired.until = expired.from + std::chrono::hours(1);
  CertificateContents early = Identities::contents("daemon/gamma");
  early.from = early.until - std::chrono::hours(1);
  const std::string good = identities_.bundle("daemon/gamma");
  struct Stranger {
    std::string logged, alert;
    std::function<std::string()> attempt;
  };
  const std::vector<Stranger> strangers{
      {"signed by no CA certificate that is known here", "alert unknown ca",
       [&] { return connect_with(identities_.bundle(Identities::contents("daemon/gamma"), other)); }},
      {"the peer's certificate is of another cluster", "alert bad certificate",
       [&] {
         return connect_with(
             identities_.bundle(Identities::contents("daemon/gamma", "other"), identities_.authority()));
       }},
      {"the peer has no certificate, which is required here", "alert certificate required",
       [&] {
         return connect_to_alpha({"-alpn", "spindle-link/1"});
       }},
      {"the peer's certificate has expired", "alert certificate expired",
       [&] { return connect_with(identities_.bundle(expired, identities_.authority())); }},
      {"the peer's certificate is not valid yet", "alert bad certificate",
       [&] { return connect_with(identities_.bundle(early, identities_.authority())); }},
      {"the peer's certificate is revoked", "alert certificate revoked", [&] { return connect_with(revoked); }},
      {"the peer's certificate is for another purpose", "alert unsupported certificate",
       [&] { return connect_with(identities_.bundle("client/feed")); }},
      {"the peer's certificate is for another purpose", "alert unsupported certificate",
       [&] { return connect_with(identities_.bundle("operator/anna")); }},
      {"the peer does not speak TLS 1.3", "alert protocol version", [&] { return connect_with(good, {"-tls1_2"}); }},
      {"the peer means another port", "alert no application protocol",
       [&] {
         return connect_to_alpha({"-alpn", "spindle-client/1", "-cert", good, "-key", good});
       }},
      {"the peer means another port", "alert no application protocol",
       [&] {
         return connect_to_alpha({"-cert", good, "-key", good});
       }},
  };
  std::uint64_t refused = 0;
  for (const auto& [logged, alert, attempt] : strangers) {
    SCOPED_TRACE(logged);
    const std::size_t before = alpha_->process().line_count();
    const std::string said = attempt();
    EXPECT_THAT(alpha_->process().wait_for_line("is refused: ", before).text, HasSubstr(logged));
    EXPECT_THAT(said, HasSubstr(alert));
    EXPECT_EQ(alpha_->count("tls_handshakes_refused"), ++refused);
    stream.wait_for(1);
  }
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(alpha_->count("links_up"), 1u);
  EXPECT_EQ(alpha_->count("links_down"), 0u);
}

TEST_F(TlsLinks, GarbageAndHalfOfAHandshakeAreRefused) {
  start_alpha();
  RawSocket garbage(alpha_->link_address());
  garbage.write(random_bytes(1000, 1));
  alpha_->process().wait_for_line("is refused: ");
  RawSocket silent(alpha_->link_address());
  alpha_->process().wait_for_line("is refused: the handshake was not completed in time");
  alpha_->expect_serving();
}

TEST_F(TlsLinks, ADaemonUnderTheNameOfAnotherIsRefused) {
  start_alpha();
  DaemonOptions options;
  options.name = "gamma";
  options.configuration = "[tls]\nbundle = \"" + identities_.bundle("daemon/beta") + "\"\n";
  EXPECT_THROW(Daemon{options}, std::exception);  // it refuses its own configuration
}

TEST_F(TlsLinks, ADaemonDoesNotStartWithACertificateThatHasExpired) {
  CertificateContents expired = Identities::contents("daemon/alpha");
  expired.until = expired.from + std::chrono::hours(1);
  ProcessOptions options;
  options.arguments = {"--name", "alpha", "--bundle", identities_.bundle(expired, identities_.authority())};
  const Finished refused = run(SPINDLED_PATH, options);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.error, HasSubstr("the certificate of daemon:alpha, or a CA's above it, has expired"));
  EXPECT_THAT(refused.error, HasSubstr("renew it with `spmonitor pki issue`"));
}

TEST_F(TlsLinks, ACertificateThatEndsSoonIsWarnedOf) {
  const DaemonOptions options = identities_.daemon("alpha");  // until tomorrow
  alpha_.emplace(options);
  const std::string warning = "the certificate of daemon:alpha ends at ";
  EXPECT_THAT(alpha_->process().wait_for_line(warning).text, HasSubstr("`spmonitor pki issue spindle.ca alpha`"));
  const std::size_t before = alpha_->process().line_count();
  alpha_->process().signal(SIGHUP);
  alpha_->process().wait_for_line(warning, before);
  alpha_->expect_serving();
}

TEST_F(TlsLinks, WhoCallsItselfByTheNameOfAnotherIsRefused) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  start_alpha();
  const auto beta = dial_alpha(identities_.daemon("beta"));
  beta->process().wait_for_line("link to alpha up");
  const Bytes hello = make_link_hello("beta");
  const std::string path = identities_.file("hello", {reinterpret_cast<const char*>(hello.data()), hello.size()});
  const Descriptor input(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string gamma = identities_.bundle("daemon/gamma");
  connect_to_alpha({"-quiet", "-alpn", "spindle-link/1", "-cert", gamma, "-key", gamma}, input.get());
  alpha_->process().wait_for_line("it calls itself beta, and its certificate is that of daemon:gamma");
  EXPECT_EQ(alpha_->count("links_down"), 0u);
  EXPECT_EQ(alpha_->count("name_conflicts"), 0u);
}

TEST_F(TlsLinks, ACertificateThatIsRevokedMeanwhileEndsItsLink) {
  const std::string beta_bundle = identities_.bundle("daemon/beta");
  const std::string serial = identities_.last_serial();
  DaemonOptions alpha = identities_.daemon("alpha");
  const std::string lists = identities_.file("lists.crl", identities_.authority().revoke({}, Identities::tomorrow()));
  alpha.configuration += "revocation_lists = \"" + lists + "\"\n";
  alpha_.emplace(alpha);
  DaemonOptions options;
  options.name = "beta";
  options.configuration = "[tls]\nbundle = \"" + beta_bundle + "\"\n";
  const auto beta = dial_alpha(options);
  alpha_->process().wait_for_line("link to beta up");
  identities_.file("lists.crl", identities_.authority().revoke({serial}, Identities::tomorrow()));
  alpha_->reload(alpha.configuration);
  alpha_->process().wait_for_line("the certificate of daemon:beta is revoked");
  alpha_->process().wait_for_line("link to beta");
  alpha_->process().wait_for_line("is refused: the peer's certificate is revoked");
  alpha_->expect_serving();
}

TEST_F(TlsLinks, ACertificateThatIsRevokedDuringItsHandshakeIsRefused) {
  const std::string bundle = identities_.bundle("daemon/beta");
  const std::string serial = identities_.last_serial();
  const DaemonOptions alpha = identities_.daemon("alpha");
  alpha_.emplace(alpha);
  TlsPeer peer(alpha_->link_address(), TlsPort::link, bundle, [&] {
    const std::string list =
        identities_.file("lists.crl", identities_.authority().revoke({serial}, Identities::tomorrow()));
    alpha_->reload(alpha.configuration + "revocation_lists = \"" + list + "\"\n");
    alpha_->process().wait_for_line("those revoked by");
  });
  EXPECT_FALSE(peer.is_greeted());
  alpha_->process().wait_for_line("is refused: the peer's certificate is revoked");
}

// A copy that is cut short by a full disk must not let in those who were revoked.
TEST_F(TlsLinks, AnEmptyListOfThoseRevokedIsNotTaken) {
  DaemonOptions alpha = identities_.daemon("alpha");
  const std::string lists = identities_.file("lists.crl", "");
  alpha_.emplace(alpha);
  alpha_->reload(alpha.configuration + "revocation_lists = \"" + lists + "\"\n");
  alpha_->process().wait_for_line("tls.revocation_lists: " + lists + " is empty");
  alpha_->process().wait_for_line("is not taken: the configuration stays as it is");
}

}  // namespace
}  // namespace spindle::test
