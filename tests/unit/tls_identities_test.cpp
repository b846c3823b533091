// Connections that come about: who each side takes the other for, and by which authorities.
#include "tests/unit/tls_pair.h"
#include "tools/spmonitor/pki/authority_file.h"

namespace spindle::test {
namespace {

class TlsIdentities : public TlsLinkTest {};

TEST_F(TlsIdentities, BothKnowWhoTheOtherIs) {
  const auto pair = make_open_pair();
  ASSERT_TRUE(pair->dialling.peer() && pair->accepting.peer());
  EXPECT_EQ(to_identity(pair->dialling.peer()->name), "daemon:beta");
  EXPECT_EQ(to_identity(pair->accepting.peer()->name), "daemon:alpha");
  EXPECT_EQ(pair->dialling.peer()->expires, kToday + 30 * kDay);
}

/// Nothing but what `spmonitor pki` makes.
TEST_F(TlsIdentities, TheCommandMakesFitCertificates) {
  using namespace spmonitor;
  const pki::Validity validity = pki::validity_from(kToday, std::chrono::days(30));
  const pki::Authority authority = pki::make_authority("trading", validity).value();
  const auto bundle = [&](Kind kind, const std::string& name) {
    const pki::Identity made = pki::make_identity(authority, {{"trading", kind, name}, {}, {}, validity}).value();
    return pki::to_pem(*made.key, {made.certificate.get(), authority.certificate.get()}).value();
  };
  const std::string beta = bundle(Kind::daemon, "beta");
  const auto expect_identity = [&](const TlsRole& dials, const TlsRole& accepts, Kind kind, const std::string& text) {
    TlsPair pair(make_context(dials, bundle(kind, "x")), make_context(accepts, beta));
    pair.settle();
    ASSERT_TRUE(pair.accepting.peer()) << pair.accepting.fault().text;
    EXPECT_EQ(to_identity(pair.accepting.peer()->name), text);
  };
  expect_identity(kLinkDialling, kLinkAccepting, Kind::daemon, "daemon:x");
  expect_identity(kClientDialling, kClientAccepting, Kind::client, "cert:x");
  expect_identity({TlsPort::admin, TlsSide::dialling}, {TlsPort::admin, TlsSide::accepting}, Kind::administrator,
                  "operator:x");
}

TEST_F(TlsIdentities, AClientMayBeNobody) {
  TlsPair pair(make_context(kClientDialling, authority_.certificate()),
               make_context(kAnyClientAccepting, make_bundle(authority_, daemon_contents("beta"))));
  pair.settle();
  EXPECT_EQ(pair.accepting.state(), State::open);
  EXPECT_FALSE(pair.accepting.peer());
  ASSERT_TRUE(pair.dialling.peer());
  EXPECT_EQ(to_identity(pair.dialling.peer()->name), "daemon:beta");
}

TEST_F(TlsIdentities, AClientIsNamedWhereItHasACertificate) {
  for (const TlsRole& role : {kClientAccepting, kAnyClientAccepting}) {
    TlsPair pair(make_context(kClientDialling, make_bundle(authority_, client_contents("feed"))),
                 make_context(role, make_bundle(authority_, daemon_contents("beta"))));
    pair.settle();
    ASSERT_TRUE(pair.accepting.peer());
    EXPECT_EQ(to_identity(pair.accepting.peer()->name), "cert:feed");
  }
}

TEST_F(TlsIdentities, DaemonsMayShareACertificate) {
  const std::string bundle = make_bundle(authority_, daemon_contents(std::string(kAnyDaemon)));
  TlsPair pair(make_context(kLinkDialling, bundle), make_context(kLinkAccepting, bundle));
  pair.settle();
  ASSERT_TRUE(pair.accepting.peer());
  EXPECT_EQ(pair.accepting.peer()->name.name, kAnyDaemon);
}

/// While authorities change, bundles have both.
TEST_F(TlsIdentities, TwoAuthorities) {
  TestAuthority other("CA of tests");
  const std::string of_old = make_bundle(authority_, daemon_contents("alpha")) + other.certificate();
  const std::string of_new = make_bundle(other, daemon_contents("beta")) + authority_.certificate();
  // The list of one is no reason to refuse the certificates of the other.
  for (const std::string& lists : {std::string(), authority_.revoke({"01"}), other.revoke({"01"})}) {
    TlsPair pair(make_context(kLinkDialling, of_old, lists), make_context(kLinkAccepting, of_new, lists));
    pair.settle();
    EXPECT_EQ(pair.accepting.state(), State::open) << pair.accepting.fault().text;
    EXPECT_EQ(pair.dialling.state(), State::open) << pair.dialling.fault().text;
  }
}

TEST_F(TlsIdentities, AuthoritiesBelowOthers) {
  TestAuthority below("below", &authority_);
  const std::string bundle = make_bundle(below, daemon_contents("alpha")) + authority_.certificate();
  TlsPair pair(make_context(kLinkDialling, bundle),
               make_context(kLinkAccepting, make_bundle(authority_, daemon_contents("beta"))));
  pair.settle();
  EXPECT_EQ(pair.accepting.state(), State::open) << pair.accepting.fault().text;
}

}  // namespace
}  // namespace spindle::test
