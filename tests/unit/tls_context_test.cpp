#include "libclient/tls/tls_context.h"

#include <gmock/gmock.h>

#include "tests/unit/tls_pair.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

class TlsContextTest : public testing::Test {
 protected:
  std::string error_of(const std::string& bundle, const TlsRole& role = kLinkAccepting,
                       const std::string& revocation_lists = {}, WallTime now = kToday) {
    std::string error;
    EXPECT_EQ(TlsContext::make(role, bundle, revocation_lists, now, error), nullptr);
    EXPECT_EQ(error.find(alpha_.key.substr(40, 20)), std::string::npos);
    return error;
  }

  TestAuthority authority_;
  TestCertificate alpha_ = authority_.issue(daemon_contents("alpha"));
  static std::string alpha_uri() { return daemon_contents("alpha").uri; }

  std::string bundle_ = alpha_.key + alpha_.certificate + authority_.certificate();
};

TEST_F(TlsContextTest, SaysWhoseItIsAndHowLong) {
  const auto context = make_context(kLinkAccepting, bundle_);
  ASSERT_TRUE(context->certificate());
  EXPECT_EQ(to_identity(context->certificate()->name), "daemon:alpha");
  EXPECT_EQ(context->certificate()->name.cluster, "trading");
  EXPECT_EQ(context->certificate()->expires, kToday + 30 * kDay);
}

TEST_F(TlsContextTest, TakesTheBundleInAnyOrderWithTextBetween) {
  make_context(kLinkDialling, "the CA\n" + authority_.certificate() + "alpha\n" + alpha_.certificate + alpha_.key);
}

TEST_F(TlsContextTest, NeedsNoRevocationLists) {
  std::string error;
  EXPECT_NE(TlsContext::make(kLinkAccepting, bundle_, std::string_view(), kToday, error), nullptr) << error;
  EXPECT_EQ(error, "");
}

TEST_F(TlsContextTest, IsForWhoDialsWithoutACertificateToo) {
  EXPECT_FALSE(make_context(kClientDialling, authority_.certificate())->certificate());
  EXPECT_THAT(error_of(authority_.certificate(), kLinkDialling), HasSubstr("no private key"));
  EXPECT_THAT(error_of(authority_.certificate(), kClientAccepting), HasSubstr("no private key"));
}

TEST_F(TlsContextTest, SaysWhatIsMissing) {
  EXPECT_THAT(error_of(""), HasSubstr("there is nothing in it"));
  EXPECT_THAT(error_of("hello\n"), HasSubstr("there is nothing in it"));
  EXPECT_THAT(error_of(alpha_.key + alpha_.certificate), HasSubstr("no CA certificate"));
  EXPECT_THAT(error_of(alpha_.certificate + authority_.certificate()), HasSubstr("a certificate and no private key"));
  EXPECT_THAT(error_of(alpha_.key + authority_.certificate()), HasSubstr("a private key and no certificate"));
}

TEST_F(TlsContextTest, SaysWhatDoesNotBelongTogether) {
  const TestCertificate beta = authority_.issue(daemon_contents("beta"));
  EXPECT_THAT(error_of(beta.key + alpha_.certificate + authority_.certificate()), HasSubstr("does not belong"));
  EXPECT_THAT(error_of(bundle_ + beta.certificate), HasSubstr("two certificates"));
  EXPECT_THAT(error_of(bundle_ + beta.key), HasSubstr("two private keys"));
  EXPECT_THAT(error_of(alpha_.key + alpha_.certificate + TestAuthority("another").certificate()),
              HasSubstr("signed by no CA certificate"));
}

TEST_F(TlsContextTest, SaysWhatCannotBeRead) {
  const auto block = [](const std::string& name, const std::string& body) {
    return "-----BEGIN " + name + "-----\n" + body + "-----END " + name + "-----\n";
  };
  EXPECT_THAT(error_of(block("CERTIFICATE", "AAAA\n")), HasSubstr("a block CERTIFICATE is damaged"));
  EXPECT_THAT(error_of(block("PRIVATE KEY", "AAAA\n")), HasSubstr("a block PRIVATE KEY is damaged"));
  EXPECT_THAT(error_of(block("ENCRYPTED PRIVATE KEY", "AAAA\n")), HasSubstr("encrypted"));
  EXPECT_THAT(error_of(block("X509 CRL", "AAAA\n")), HasSubstr("a block X509 CRL is damaged"));
  EXPECT_THAT(error_of(bundle_ + "-----BEGIN CERTIFICATE-----\nAAAA\n"), HasSubstr("damaged or cut short"));
  EXPECT_THAT(error_of(bundle_, kLinkAccepting, block("X509 CRL", "AAAA\n")),
              HasSubstr("of the revocation lists: a block"));
  EXPECT_THAT(error_of(bundle_, kLinkAccepting, bundle_), HasSubstr("of the revocation lists: there are none"));
}

TEST_F(TlsContextTest, HoldsItsOwnCertificateToWhatPeersWill) {
  EXPECT_THAT(error_of(bundle_, kLinkAccepting, {}, kToday + 31 * kDay),
              HasSubstr("expired (it lasts until 2026-03-31T"));
  EXPECT_THAT(error_of(bundle_, kLinkAccepting, {}, kToday - 2 * kDay), HasSubstr("not valid yet"));
  EXPECT_THAT(error_of(bundle_, kLinkAccepting, authority_.revoke({alpha_.serial})), HasSubstr("revoked"));
  EXPECT_THAT(error_of(make_bundle(authority_, {.uri = "https://trading/daemon/alpha"})), HasSubstr("no name"));
  EXPECT_THAT(error_of(make_bundle(authority_, {.uri = alpha_uri() + ",URI:" + alpha_uri()})), HasSubstr("several"));
}

TEST_F(TlsContextTest, IsForOnePurpose) {
  const std::string client = make_bundle(authority_, client_contents("feed"));
  make_context(kClientDialling, client);
  EXPECT_THAT(error_of(client, kLinkDialling), HasSubstr("another purpose"));
  EXPECT_THAT(error_of(client, kClientAccepting), HasSubstr("another purpose"));
  constexpr TlsRole kAdminDialling{TlsPort::admin, TlsSide::dialling};
  make_context(kAdminDialling,
               make_bundle(authority_, {.uri = "spindle://trading/operator/anna", .usage = "clientAuth"}));
  for (const std::string& other : {client, bundle_}) {
    EXPECT_THAT(error_of(other, kAdminDialling), HasSubstr("for administration that of an operator"));
  }
  EXPECT_THAT(error_of(authority_.certificate(), kAdminDialling), HasSubstr("no private key, and no certificate"));
  CertificateContents contents = daemon_contents("alpha");
  contents.usage = "serverAuth";
  const std::string server = make_bundle(authority_, contents);
  make_context(kLinkAccepting, server);
  EXPECT_THAT(error_of(server, kLinkDialling), HasSubstr("another purpose"));
  contents.usage.clear();
  EXPECT_THAT(error_of(make_bundle(authority_, contents)), HasSubstr("another purpose"));
}

TEST_F(TlsContextTest, RefusesAForgedRevocationList) {
  const TestAuthority forger;  // of the same name
  EXPECT_THAT(error_of(bundle_, kLinkAccepting, forger.revoke({})), HasSubstr("not signed by the CA that it names"));
  make_context(kLinkAccepting, bundle_, TestAuthority("another").revoke({}));
  make_context(kLinkAccepting, bundle_ + authority_.revoke({}));
}

TEST_F(TlsContextTest, KnowsWhatHasBeenRevokedSince) {
  const CertificateRecord alpha = *make_context(kLinkAccepting, bundle_)->certificate();
  const std::string beta = make_bundle(authority_, daemon_contents("beta"));
  EXPECT_FALSE(make_context(kLinkAccepting, beta)->has_revoked(alpha));
  EXPECT_FALSE(make_context(kLinkAccepting, beta, authority_.revoke({"01", "02"}))->has_revoked(alpha));
  EXPECT_TRUE(make_context(kLinkAccepting, beta, authority_.revoke({"01", alpha_.serial, "02"}))->has_revoked(alpha));
  // The same number of another CA is another certificate.
  const std::string lists = TestAuthority("another").revoke({alpha_.serial});
  EXPECT_FALSE(make_context(kLinkAccepting, beta, lists)->has_revoked(alpha));
}

}  // namespace
}  // namespace spindle::test
