// Connections that do not come about: what each side says of it.
#include <gmock/gmock.h>

#include "tests/unit/tls_raw_peer.h"

namespace spindle::test {
namespace {

class TlsRefusals : public testing::Test {
 protected:
  std::shared_ptr<const TlsContext> context(const TlsRole& role, const CertificateContents& contents,
                                            const std::string& lists = {}) {
    return make_context(role, make_bundle(authority_, contents), lists);
  }
  std::shared_ptr<const TlsContext> context(const TlsRole& role, const TestCertificate& certificate) {
    return make_context(role, certificate.key + certificate.certificate + authority_.certificate());
  }

  /// `by` finds `found` in what the other end has; that one is told `told`.
  static void expect_refusal(TlsPair& pair, TlsSide by, TlsFailure found, TlsFailure told) {
    write_some(pair.dialling, "never delivered");
    pair.settle();
    write_some(pair.dialling, "never delivered");
    pair.settle();
    const bool accepts = by == TlsSide::accepting;
    const TlsEngine& finder = accepts ? pair.accepting : pair.dialling;
    const TlsEngine& other = accepts ? pair.dialling : pair.accepting;
    EXPECT_EQ(finder.state(), State::failed);
    EXPECT_EQ(finder.fault().failure, found) << finder.fault().text;
    EXPECT_FALSE(finder.fault().is_told_by_peer);
    EXPECT_EQ(other.state(), State::failed);
    EXPECT_EQ(other.fault().failure, told) << other.fault().text;
    EXPECT_TRUE(other.fault().is_told_by_peer);
    EXPECT_EQ(pair.at_accepting + pair.at_dialling, "");
  }
  static void expect_refusal(TlsPair& pair, TlsSide by, TlsFailure both) { expect_refusal(pair, by, both, both); }

  TestAuthority authority_;
};

TEST_F(TlsRefusals, AnotherAuthority) {
  for (const char* name : {"another", "CA of tests"}) {
    TestAuthority other(name);
    TlsPair dials(make_context(kLinkDialling, make_bundle(other, daemon_contents("alpha")) + authority_.certificate()),
                  context(kLinkAccepting, daemon_contents("beta")));
    expect_refusal(dials, TlsSide::accepting, TlsFailure::untrusted);
    TlsPair accepts(context(kLinkDialling, daemon_contents("alpha")),
                    make_context(kLinkAccepting, make_bundle(other, daemon_contents("beta"))));
    expect_refusal(accepts, TlsSide::dialling, TlsFailure::untrusted);
  }
}

/// Where only the signature tells that.
TEST_F(TlsRefusals, AnotherAuthorityOfTheSameName) {
  TestAuthority one("same", nullptr, true), other("same", nullptr, true);
  TlsPair pair(make_context(kLinkDialling, make_bundle(one, daemon_contents("alpha"))),
               make_context(kLinkAccepting, make_bundle(other, daemon_contents("beta"))));
  expect_refusal(pair, TlsSide::dialling, TlsFailure::untrusted);
}

TEST_F(TlsRefusals, Expired) {
  CertificateContents soon_over = daemon_contents("alpha");
  soon_over.until = kToday + kDay;
  const WallTime later = kToday + 2 * kDay;
  TlsPair dials(context(kLinkDialling, soon_over), context(kLinkAccepting, daemon_contents("beta")), kToday, later);
  expect_refusal(dials, TlsSide::accepting, TlsFailure::expired);
  TlsPair accepts(context(kLinkDialling, daemon_contents("beta")), context(kLinkAccepting, soon_over), later, kToday);
  expect_refusal(accepts, TlsSide::dialling, TlsFailure::expired);
}

TEST_F(TlsRefusals, NotYetValid) {
  CertificateContents young = daemon_contents("alpha");
  young.from = kToday;
  const WallTime before = kToday - 1h;
  TlsPair dials(context(kLinkDialling, young), context(kLinkAccepting, daemon_contents("beta")), kToday, before);
  expect_refusal(dials, TlsSide::accepting, TlsFailure::not_yet_valid, TlsFailure::bad_certificate);
  TlsPair accepts(context(kLinkDialling, daemon_contents("beta")), context(kLinkAccepting, young), before, kToday);
  expect_refusal(accepts, TlsSide::dialling, TlsFailure::not_yet_valid, TlsFailure::bad_certificate);
}

TEST_F(TlsRefusals, Revoked) {
  const TestCertificate alpha = authority_.issue(daemon_contents("alpha"));
  for (const WallTime until : {kToday + kDay, kToday - 1h}) {  // an overdue list counts, too
    const std::string list = authority_.revoke({alpha.serial}, until);
    TlsPair dials(context(kLinkDialling, alpha), context(kLinkAccepting, daemon_contents("beta"), list));
    expect_refusal(dials, TlsSide::accepting, TlsFailure::revoked);
    TlsPair accepts(context(kLinkDialling, daemon_contents("beta"), list), context(kLinkAccepting, alpha));
    expect_refusal(accepts, TlsSide::dialling, TlsFailure::revoked);
  }
}

TEST_F(TlsRefusals, NoCertificate) {
  TlsPair pair(make_context(kClientDialling, authority_.certificate()),
               context(kClientAccepting, daemon_contents("beta")));
  expect_refusal(pair, TlsSide::accepting, TlsFailure::no_certificate);
}

TEST_F(TlsRefusals, NoCertificateOnALink) {
  RawPeer peer(TlsSide::dialling);
  TlsEngine engine(context({TlsPort::link, TlsSide::accepting, false}, daemon_contents("beta")), kToday);
  peer.run(engine);
  EXPECT_EQ(engine.fault().failure, TlsFailure::no_certificate);
  EXPECT_EQ(peer.alert(), SSL_AD_CERTIFICATE_REQUIRED);
}

TEST_F(TlsRefusals, AnotherCluster) {
  const CertificateContents contents{.uri = to_uri({"other", Kind::daemon, "alpha"})};
  TlsPair dials(context(kLinkDialling, contents), context(kLinkAccepting, daemon_contents("beta")));
  // Who dials sees the other's certificate first.
  expect_refusal(dials, TlsSide::dialling, TlsFailure::wrong_cluster, TlsFailure::bad_certificate);
}

/// Certificates that no context is made of: the peer is told by an alert, which is all that it sees.
TEST_F(TlsRefusals, AnotherPurpose) {
  struct Case {
    CertificateContents contents;
    TlsFailure found;
    int alert;
  };
  const auto with_usage = [](std::string usage) {
    CertificateContents contents = daemon_contents("alpha");
    contents.usage = std::move(usage);
    return contents;
  };
  for (const TlsSide side : {TlsSide::dialling, TlsSide::accepting}) {
    const bool dials = side == TlsSide::dialling;
    const std::string wrong_usage = dials ? "serverAuth" : "clientAuth";
    CertificateContents client = client_contents("feed");
    client.usage = "serverAuth,clientAuth";
    for (const Case& each : {Case{with_usage(wrong_usage), TlsFailure::wrong_purpose, SSL_AD_UNSUPPORTED_CERTIFICATE},
                             Case{with_usage(""), TlsFailure::wrong_purpose, SSL_AD_UNSUPPORTED_CERTIFICATE},
                             Case{client, TlsFailure::wrong_purpose, SSL_AD_UNSUPPORTED_CERTIFICATE},
                             Case{{.uri = "https://alpha"}, TlsFailure::no_name, SSL_AD_BAD_CERTIFICATE},
                             Case{{}, TlsFailure::no_name, SSL_AD_BAD_CERTIFICATE}}) {
      RawPeer peer(side);
      peer.use(authority_.issue(each.contents));
      TlsEngine engine(context(dials ? kLinkAccepting : kLinkDialling, daemon_contents("beta")), kToday);
      peer.run(engine);
      EXPECT_EQ(engine.state(), State::failed);
      EXPECT_EQ(engine.fault().failure, each.found) << engine.fault().text;
      EXPECT_EQ(peer.alert(), each.alert);
    }
  }
}

/// Administration is for operators.
TEST_F(TlsRefusals, NoOperator) {
  constexpr TlsRole kAdminAccepting{TlsPort::admin, TlsSide::accepting};
  for (const CertificateContents& contents : {client_contents("feed"), daemon_contents("alpha")}) {
    RawPeer peer(TlsSide::dialling, "\x0fspindle-admin/1");
    peer.use(authority_.issue(contents));
    TlsEngine engine(context(kAdminAccepting, daemon_contents("beta")), kToday);
    peer.run(engine);
    EXPECT_EQ(engine.fault().failure, TlsFailure::wrong_purpose) << engine.fault().text;
    EXPECT_EQ(peer.alert(), SSL_AD_UNSUPPORTED_CERTIFICATE);
  }
  // Not even where certificates are no must.
  RawPeer nobody(TlsSide::dialling, "\x0fspindle-admin/1");
  TlsEngine engine(context({TlsPort::admin, TlsSide::accepting, false}, daemon_contents("beta")), kToday);
  nobody.run(engine);
  EXPECT_EQ(engine.fault().failure, TlsFailure::no_certificate) << engine.fault().text;
}

/// The same, told to an engine.
TEST_F(TlsRefusals, PeerRefusesThePurpose) {
  for (const TlsSide side : {TlsSide::dialling, TlsSide::accepting}) {
    RawPeer peer(side);
    peer.use(authority_.issue(daemon_contents("alpha")));
    SSL_CTX_set_verify(peer.context(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(
        peer.context(),
        [](X509_STORE_CTX* verification, void*) {
          X509_STORE_CTX_set_error(verification, X509_V_ERR_INVALID_PURPOSE);
          return 0;
        },
        nullptr);
    TlsEngine engine(context(side == TlsSide::dialling ? kLinkAccepting : kLinkDialling, daemon_contents("beta")),
                     kToday);
    peer.run(engine);
    EXPECT_EQ(engine.state(), State::failed);
    EXPECT_EQ(engine.fault().failure, TlsFailure::wrong_purpose);
    EXPECT_TRUE(engine.fault().is_told_by_peer);
    EXPECT_THAT(engine.fault().text, testing::HasSubstr("the peer refused this side's certificate"));
  }
}

TEST_F(TlsRefusals, AnotherPort) {
  TlsPair pair(context(kClientDialling, client_contents("feed")), context(kLinkAccepting, daemon_contents("beta")));
  expect_refusal(pair, TlsSide::accepting, TlsFailure::wrong_protocol);
}

TEST_F(TlsRefusals, NoProtocolAtAll) {
  RawPeer dialling(TlsSide::dialling);
  dialling.use(authority_.issue(daemon_contents("alpha")));
  dialling.forget_protocol();
  TlsEngine accepting(context(kLinkAccepting, daemon_contents("beta")), kToday);
  EXPECT_FALSE(dialling.run(accepting));
  EXPECT_EQ(accepting.fault().failure, TlsFailure::wrong_protocol);
  EXPECT_EQ(dialling.alert(), SSL_AD_NO_APPLICATION_PROTOCOL);
  RawPeer passes_over(TlsSide::accepting);
  passes_over.use(authority_.issue(daemon_contents("alpha")));
  passes_over.forget_protocol();
  TlsEngine engine(context(kLinkDialling, daemon_contents("beta")), kToday);
  passes_over.run(engine);
  EXPECT_EQ(engine.fault().failure, TlsFailure::wrong_protocol);
}

TEST_F(TlsRefusals, AnOlderVersion) {
  for (const TlsSide side : {TlsSide::dialling, TlsSide::accepting}) {
    for (const bool has_protocol : {true, false}) {
      RawPeer peer(side);
      peer.use(authority_.issue(daemon_contents("alpha")));
      SSL_CTX_set_max_proto_version(peer.context(), TLS1_2_VERSION);
      if (!has_protocol) peer.forget_protocol();
      TlsEngine engine(context(side == TlsSide::dialling ? kLinkAccepting : kLinkDialling, daemon_contents("beta")),
                       kToday);
      EXPECT_FALSE(peer.run(engine));
      EXPECT_EQ(engine.fault().failure, TlsFailure::wrong_version) << engine.fault().text;
      // Who accepts finds the fault here, and who dials is told.
      EXPECT_EQ(engine.fault().is_told_by_peer, side == TlsSide::accepting);
      EXPECT_EQ(peer.alert() == SSL_AD_PROTOCOL_VERSION, side == TlsSide::dialling);
    }
  }
}

TEST_F(TlsRefusals, WhatIsNotTls) {
  for (const std::string& words : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
                                   std::string(64, '\0'), std::string(20000, '\x16'), std::string(300, '\xff')}) {
    for (const TlsRole& role : {kLinkAccepting, kLinkDialling}) {
      TlsEngine engine(context(role, daemon_contents("beta")), kToday);
      feed(engine, as_bytes(words));
      EXPECT_EQ(engine.state(), State::failed);
      EXPECT_EQ(engine.fault().failure, TlsFailure::garbage) << words << ": " << engine.fault().text;
      EXPECT_EQ(read_some(engine), "");
    }
  }
}

TEST_F(TlsRefusals, BreaksOffInTheHandshake) {
  TlsPair pair(context(kLinkDialling, daemon_contents("alpha")), context(kLinkAccepting, daemon_contents("beta")));
  move_bytes(pair.dialling, pair.accepting, 20);
  pair.accepting.received_end();
  EXPECT_EQ(pair.accepting.fault().failure, TlsFailure::truncated);
  pair.dialling.received_end();
  EXPECT_EQ(pair.dialling.fault().failure, TlsFailure::truncated);
}

}  // namespace
}  // namespace spindle::test
