// Who is dialled by a daemon and is no neighbour for it: `openssl s_server` in that part.
#include <gmock/gmock.h>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/needs.h"
#include "tests/integration/openssl.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

/// Listens on a port of its own until its end.
class OpensslServer {
 public:
  explicit OpensslServer(std::vector<std::string> arguments)
      : process_(kEnv, openssl_options(with_port(std::move(arguments)), keyboard_.input())) {
    const std::string line = process_.wait_for_line("ACCEPT ").text;
    address_ = line.substr(line.find(' ') + 1);
  }

  const std::string& address() const { return address_; }
  Process& process() { return process_; }
  void type(std::string_view text) { keyboard_.type(text); }

 private:
  static std::vector<std::string> with_port(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"s_server", "-accept", "127.0.0.1:0"});
    return arguments;
  }

  Keyboard keyboard_;
  Process process_;
  std::string address_;
};

const std::vector<std::string> kLinkProtocol{"-alpn", "spindle-link/1"};

/// What is wrong with one, and what is said of it.
struct Stranger {
  std::vector<std::string> arguments;
  std::string logged;  // by the daemon
  std::string told;    // to openssl, or found by it
};

class TlsDialled : public testing::Test {
 protected:
  void SetUp() override { SPINDLE_TEST_NEEDS(why_no_openssl()); }

  /// Those of a good neighbour, but for the certificate in `bundle`.
  std::vector<std::string> arguments(const std::string& bundle, const std::vector<std::string>& more = kLinkProtocol) {
    return arguments(bundle, more, identities_.authority_file());
  }
  static std::vector<std::string> arguments(const std::string& bundle, const std::vector<std::string>& more,
                                            const std::string& trusted) {
    std::vector<std::string> result{
        "-cert", bundle, "-key", bundle, "-CAfile", trusted, "-Verify", "1", "-verify_return_error"};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }
  /// Dials the servers, and again every now and then.
  void start_alpha(const std::vector<std::unique_ptr<OpensslServer>>& servers, const std::string& tls = {},
                   const std::string& link = {}) {
    const std::string redial = "\n[link]\nredial_min_ms = 200\nredial_max_ms = 1000\n";
    DaemonOptions options = identities_.daemon("alpha", tls + redial + link);
    for (const auto& server : servers) options.neighbours.push_back(server->address());
    alpha_.emplace(options);
  }
  /// Dials alpha.
  void start_beta() {
    DaemonOptions options = identities_.daemon("beta");
    options.neighbours = {alpha_->link_address()};
    beta_.emplace(options);
  }
  std::vector<Stranger> make_strangers(const std::string& revoked);

  Identities identities_;
  TestAuthority other_{"another CA"};
  std::optional<Daemon> alpha_, beta_;
};

std::vector<Stranger> TlsDialled::make_strangers(const std::string& revoked) {
  const TestAuthority& own = identities_.authority();
  const CertificateContents contents = Identities::contents("daemon/gamma");
  CertificateContents expired = contents, client = Identities::contents("client/feed");
  expired.until = expired.from + std::chrono::hours(1);
  client.usage = "clientAuth";
  const std::string good = identities_.bundle("daemon/gamma");
  const std::string others = identities_.file("other.pem", other_.certificate());
  return {
      {arguments(identities_.bundle(contents, other_)),
       "the peer's certificate is signed by no CA certificate that is known here", "alert unknown ca"},
      {arguments(identities_.bundle(client, own)), "the peer's certificate is for another purpose",
       "alert unsupported certificate"},
      {arguments(identities_.bundle("operator/anna")), "the peer's certificate is for another purpose",
       "alert unsupported certificate"},
      {arguments(identities_.bundle(Identities::contents("daemon/gamma", "other"), own)),
       "the peer's certificate is of another cluster", "alert bad certificate"},
      {arguments(identities_.bundle(expired, own)), "the peer's certificate has expired", "alert certificate expired"},
      {arguments(revoked), "the peer's certificate is revoked", "alert certificate revoked"},
      {arguments(good, {"-alpn", "spindle-link/1", "-tls1_2"}), "the peer does not accept TLS 1.3",
       "unsupported protocol"},
      {arguments(good, {"-alpn", "spindle-client/1"}), "the peer's port is for something else",
       "no application protocol"},
      {arguments(good, {}), "the peer means another port, or does not speak Spindle", "CONNECTION CLOSED"},
      {arguments(good, kLinkProtocol, others),
       "the peer knows no CA certificate that this side's certificate is signed by", "certificate verify failed"},
  };
}

TEST_F(TlsDialled, IsToldWhyItIsRefused) {
  const std::string revoked = identities_.bundle("daemon/gamma");
  const std::string lists = identities_.authority().revoke({identities_.last_serial()}, Identities::tomorrow());
  const std::vector<Stranger> strangers = make_strangers(revoked);
  std::vector<std::unique_ptr<OpensslServer>> servers;
  for (const Stranger& stranger : strangers) servers.push_back(std::make_unique<OpensslServer>(stranger.arguments));
  start_alpha(servers, "revocation_lists = \"" + identities_.file("revoked.crl", lists) + "\"\n");
  start_beta();
  MessageStream stream(*alpha_, *beta_);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    SCOPED_TRACE(strangers[i].logged);
    const std::string about = "no link to " + servers[i]->address() + ": ";
    EXPECT_THAT(alpha_->process().wait_for_line(about).text, HasSubstr(strangers[i].logged));
    EXPECT_NO_THROW(servers[i]->process().wait_for_line(strangers[i].told)) << servers[i]->process().transcript();
  }
  // The last one refuses alpha, which therefore does not count it.
  const std::uint64_t refused = alpha_->count("tls_handshakes_refused"), two_rounds = 2 * (servers.size() - 1);
  wait_until("more refusals", [&] { return alpha_->count("tls_handshakes_refused") >= refused + two_rounds; });
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(alpha_->count("links_up"), 1u);
  EXPECT_EQ(alpha_->count("links_down"), 0u);
}

TEST_F(TlsDialled, WhoCallsItselfByTheNameOfAnotherIsRefused) {
  std::vector<std::unique_ptr<OpensslServer>> servers;
  servers.push_back(std::make_unique<OpensslServer>(arguments(identities_.bundle("daemon/gamma"))));
  const Bytes hello = make_link_hello("beta");
  servers.front()->type({reinterpret_cast<const char*>(hello.data()), hello.size()});
  start_alpha(servers);
  start_beta();
  MessageStream stream(*alpha_, *beta_);
  alpha_->process().wait_for_line("it calls itself beta, and its certificate is that of daemon:gamma");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(alpha_->count("links_down"), 0u);
  EXPECT_EQ(alpha_->count("name_conflicts"), 0u);
}

/// Its certificate says that it is of the cluster; whether it asks for alpha's is its own affair.
TEST_F(TlsDialled, WhoAsksForNoCertificateAndSaysNothingIsNoNeighbour) {
  const std::string gamma = identities_.bundle("daemon/gamma");
  std::vector<std::unique_ptr<OpensslServer>> servers;
  servers.push_back(std::make_unique<OpensslServer>(
      std::vector<std::string>{"-cert", gamma, "-key", gamma, "-alpn", "spindle-link/1"}));
  start_alpha(servers, {}, "handshake_timeout_ms = 500\n");
  start_beta();
  MessageStream stream(*alpha_, *beta_);
  alpha_->process().wait_for_line("no link to " + servers.front()->address() + ": handshake_timeout");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(alpha_->count("links_up"), 1u);
  EXPECT_EQ(alpha_->count("links_down"), 0u);
}

}  // namespace
}  // namespace spindle::test
