// Administration by TLS: which operators may do what, and who is no operator.
#include <gmock/gmock.h>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/needs.h"
#include "tests/integration/openssl.h"
#include "tests/integration/tls_peer.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

class AdminTls : public testing::Test {
 protected:
  AdminTls() {
    DaemonOptions options = identities_.daemon("alpha");
    tls_ = options.configuration;
    options.admin_address = "tls:127.0.0.1:0";
    options.client_address = "tls:127.0.0.1:0";
    options.configuration += lists("\"operator:anna\"", "\"operator:v*\"");
    daemon_.emplace(options);
  }

  static std::string lists(const std::string& operators, const std::string& viewers) {
    return "[admin]\noperators = [" + operators + "]\nviewers = [" + viewers + "]\n";
  }
  Finished spmonitor(const std::string& bundle, const std::vector<std::string>& arguments) {
    ProcessOptions options;
    options.arguments = {"--connect", daemon_->admin_address(), "--bundle", bundle};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    return run(SPMONITOR_PATH, options);
  }
  void expect_done(const std::string& bundle, const std::vector<std::string>& arguments, const std::string& words) {
    const Finished finished = spmonitor(bundle, arguments);
    EXPECT_EQ(finished.code, 0) << finished.error;
    EXPECT_THAT(finished.out, HasSubstr(words));
  }
  void expect_refused(const std::string& bundle, const std::vector<std::string>& arguments, const std::string& words) {
    const Finished finished = spmonitor(bundle, arguments);
    EXPECT_EQ(finished.code, 1) << finished.out;
    EXPECT_THAT(finished.error, HasSubstr(words));
  }
  /// Somebody who says that he administers, with the certificate in this file or none.
  void knock(const std::string& bundle) {
    std::vector<std::string> arguments{"s_client", "-connect",        daemon_->admin_address().substr(4),
                                       "-alpn",    "spindle-admin/1", "-tls1_3"};
    if (!bundle.empty()) arguments.insert(arguments.end(), {"-cert", bundle, "-key", bundle});
    openssl(arguments);
  }

  Identities identities_;
  std::string tls_;  // the section of the configuration
  std::optional<Daemon> daemon_;
};

TEST_F(AdminTls, OperatorsMayLookAndChange) {
  const std::string anna = identities_.bundle("operator/anna");
  expect_done(anna, {"status"}, "alpha");
  expect_done(anna, {"links", "--interval", "0.01"}, "");
  expect_done(anna, {"counters", "--json", "--all"}, "tls_handshakes");
  expect_done(anna, {"admission", "off"}, "off");
  daemon_->process().wait_for_line("audit: operator:anna from 127.0.0.1:");
  daemon_->process().wait_for_line("switches admission off");
  expect_done(anna, {"heal"}, "the others are told that there is none");
  daemon_->process().wait_for_line("ends the partition");
}

TEST_F(AdminTls, ViewersMayLookAndChangeNothing) {
  const std::string viewer = identities_.bundle("operator/vera");
  Connection client = daemon_->connect("client");
  EXPECT_FALSE(client.join("news"));
  wait_for_members(client, "news", {"#client#alpha"});
  expect_done(viewer, {"groups", "--members"}, "#client#alpha");
  expect_done(viewer, {"sessions"}, "client");
  for (const std::vector<std::string>& change :
       {std::vector<std::string>{"admission", "off"}, {"partition", "alpha"}, {"heal"}}) {
    expect_refused(viewer, change, "operator:vera may look and change nothing");
  }
}

TEST_F(AdminTls, OperatorsThatNobodyNamesAreRefused) {
  const std::string eve = identities_.bundle("operator/eve");
  expect_refused(eve, {"status"},
                 "the daemon says: administration is for the daemon's user, root, and whom "
                 "admin.viewers and admin.operators name: not for operator:eve (access_denied)");
  daemon_->process().wait_for_line("not for operator:eve");
  daemon_->reload(tls_ + lists("", "\"operator:*\""));
  daemon_->process().wait_for_line("from now on admin.viewers");
  expect_done(eve, {"status"}, "alpha");
  expect_refused(identities_.bundle("operator/anna"), {"heal"}, "operator:anna may look and change nothing");
}

TEST_F(AdminTls, OtherCertificatesAreRefused) {
  for (const char* holder : {"client/feed", "daemon/beta"}) {
    expect_refused(identities_.bundle(holder), {"status"}, "is for another purpose");
  }
  expect_refused(identities_.authority_file(), {"status"}, "there is no private key, and no certificate");
  expect_refused(Identities().bundle("operator/anna"), {"status"}, "signed by no CA certificate that is known here");
  expect_refused("/no/such/file.pem", {"status"}, "/no/such/file.pem: No such file");
  daemon_->expect_serving();
}

TEST_F(AdminTls, TheDaemonItselfRefusesThem) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  for (const char* holder : {"client/feed", "daemon/beta"}) {
    const std::size_t before = daemon_->process().line_count();
    knock(identities_.bundle(holder));
    daemon_->process().wait_for_line("is refused: the peer's certificate is for another purpose", before);
  }
  knock("");
  daemon_->process().wait_for_line("is refused: the peer has no certificate, which is required here");
  EXPECT_EQ(daemon_->count("tls_handshakes"), 0u);
  EXPECT_EQ(daemon_->count("tls_handshakes_refused"), 3u);
}

TEST_F(AdminTls, OtherPortsAreRefused) {
  const std::string anna = identities_.bundle("operator/anna");
  TlsPeer client(daemon_->admin_address(), TlsPort::client, anna);
  EXPECT_EQ(client.wait_for_end().failure, TlsFailure::wrong_protocol);
  ProcessOptions options;
  options.arguments = {"--connect", daemon_->client_address(), "--bundle", anna, "status"};
  const Finished finished = run(SPMONITOR_PATH, options);
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.error, HasSubstr("the peer's port is for something else"));
}

TEST_F(AdminTls, TokensAreNoMatterOfIt) {
  daemon_->reload(tls_ + lists("\"operator:anna\"", "") + "[[token]]\nname = \"web\"\nsha256 = \"" +
                  std::string(64, 'a') + "\"\n");
  daemon_->process().wait_for_line("from now on entries: [[token]] 1");
  SPINDLE_TEST_NEEDS(why_no_openssl());
  knock("");
  daemon_->process().wait_for_line("is refused: the peer has no certificate, which is required here");
}

TEST_F(AdminTls, OneWhoseCertificateIsRevokedIsSentAway) {
  const std::string vera = identities_.bundle("operator/vera");
  const std::string serial = identities_.last_serial();
  expect_done(vera, {"status"}, "alpha");
  const std::string list =
      identities_.file("revoked.crl", identities_.authority().revoke({serial}, Identities::tomorrow()));
  daemon_->reload(tls_ + "revocation_lists = \"" + list + "\"\n" + lists("", "\"operator:*\""));
  daemon_->process().wait_for_line("those revoked by");
  expect_refused(vera, {"status"}, "revoked");
}

TEST_F(AdminTls, SpmonitorRefusesADaemonWhoseCertificateIsRevoked) {
  const std::string serial = identities_.last_serial();
  const std::string anna = identities_.bundle("operator/anna");
  const std::string list =
      identities_.file("revoked.crl", identities_.authority().revoke({serial}, Identities::tomorrow()));
  expect_refused(anna, {"--revocation-lists", list, "status"}, "revoked");
  expect_refused(anna, {"--revocation-lists", "/no/such/file", "status"}, "/no/such/file: No such file");
  const std::string empty = identities_.file("empty.crl", "");
  expect_refused(anna, {"--revocation-lists", empty, "status"}, empty + " is empty");
  const std::string other = identities_.file("other.crl", "no list");
  expect_refused(anna, {"--revocation-lists", other, "status"}, other + ": of the revocation lists: there are none");
  expect_done(anna, {"status"}, "alpha");
}

TEST_F(AdminTls, TheCommandLineIsHeldToItsForm) {
  const std::string anna = identities_.bundle("operator/anna");
  const std::string address = daemon_->admin_address();
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--connect", "127.0.0.1:4805", "--bundle", anna},
        {"--connect", "tcp:127.0.0.1:4805", "--bundle", anna},
        {"--connect", "/run/socket", "--bundle", anna},
        {"--connect", "tls:", "--bundle", anna},
        {"--connect", address},
        {"--bundle", anna},
        {"--connect", address, "--bundle", anna, "--socket", "/run/socket"}}) {
    ProcessOptions options;
    options.arguments = wrong;
    options.arguments.push_back("status");
    EXPECT_EQ(run(SPMONITOR_PATH, options).code, 2) << wrong.back();
  }
}

}  // namespace
}  // namespace spindle::test
