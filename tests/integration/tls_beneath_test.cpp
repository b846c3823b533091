// What comes beneath TLS once a connection is protected, and what TLS itself lets a peer do then.
#include <gmock/gmock.h>

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/needs.h"
#include "tests/integration/openssl.h"
#include "tests/integration/tls_peer.h"

namespace spindle::test {
namespace {

using testing::HasSubstr;

constexpr const char* kAltered = "what came is not TLS, or was altered on its way";

/// How a record begins (RFC 8446, section 5.1).
Bytes record_head(std::uint8_t type, std::uint16_t bytes) {
  return {type, 3, 3, static_cast<std::uint8_t>(bytes >> 8), static_cast<std::uint8_t>(bytes)};
}

/// Alpha and beta with a link, a stream of messages across it, and whoever comes with a certificate.
class BeneathTls : public testing::Test {
 protected:
  BeneathTls() {
    DaemonOptions alpha =
        identities_.daemon("alpha", "[log]\nlevel = \"debug\"\n[link]\nhandshake_timeout_ms = 60000\n");
    alpha.client_address = "tls:127.0.0.1:0";
    alpha_.emplace(alpha);
    DaemonOptions beta = identities_.daemon("beta");
    beta.neighbours = {alpha_->link_address()};
    beta_.emplace(beta);
    stream_.emplace(*alpha_, *beta_);
  }
  /// Holds also for what stands beside: the connection that is attacked is none of these.
  void expect_undisturbed() {
    EXPECT_EQ(stream_->finish(), "");
    EXPECT_EQ(alpha_->count("links_up"), 1u);
    EXPECT_EQ(alpha_->count("links_down"), 0u);
    EXPECT_EQ(alpha_->count("tls_handshakes_refused"), 0u);
    alpha_->expect_serving();
  }
  /// Lets a peer in, has it send, and sees it refused.
  void refuse(TlsPort port, const std::function<Bytes(TlsPeer&)>& make) {
    const bool is_link = port == TlsPort::link;
    const std::uint64_t open = alpha_->count("tls_handshakes");
    const std::size_t before = alpha_->process().line_count();
    TlsPeer peer(is_link ? alpha_->link_address() : alpha_->client_address(), port,
                 identities_.bundle(is_link ? "daemon/gamma" : "client/feed"));
    wait_until("the handshake", [&] { return alpha_->count("tls_handshakes") > open; });
    peer.send(make(peer));
    alpha_->process().wait_for_line(kAltered, before);
    const TlsFault& fault = peer.wait_for_end();
    EXPECT_EQ(fault.failure, TlsFailure::garbage);
    EXPECT_TRUE(fault.is_told_by_peer) << fault.text;
    stream_->wait_for(1);
  }

  Identities identities_;
  std::optional<Daemon> alpha_, beta_;
  std::optional<MessageStream> stream_;
};

TEST_F(BeneathTls, GarbageIsRefused) {
  const std::vector<std::pair<const char*, std::function<Bytes(TlsPeer&)>>> kinds{
      {"no record at all", [](TlsPeer&) { return random_bytes(1000, 1); }},
      {"a record of random bytes", [](TlsPeer&) { return join(record_head(23, 1000), random_bytes(1000, 2)); }},
      {"a record that is too long", [](TlsPeer&) { return record_head(23, 0xffff); }},
      {"an empty record", [](TlsPeer&) { return record_head(23, 0); }},
      // The first message of a client would begin another handshake, as TLS 1.2 had it.
      {"a message of a handshake in the clear",
       [](TlsPeer&) {
         return join(record_head(22, 4), {1, 0, 0, 0});
       }},
      {"an alert in the clear",
       [](TlsPeer&) {
         return join(record_head(21, 2), {1, 0});
       }},
      {"a record that was altered",
       [](TlsPeer& peer) {
         Bytes sealed = peer.seal("altered");
         sealed.back() ^= 1;
         return sealed;
       }},
      {"a record behind one that was left out",
       [](TlsPeer& peer) {
         peer.seal("left out");
         return peer.seal("behind it");
       }},
  };
  for (const TlsPort port : {TlsPort::link, TlsPort::client}) {
    SCOPED_TRACE(port == TlsPort::link ? "at the port for links" : "at the port for clients");
    for (const auto& [what, make] : kinds) {
      SCOPED_TRACE(what);
      refuse(port, make);
    }
  }
  expect_undisturbed();
}

TEST_F(BeneathTls, GarbageEndsAlsoALinkThatIsUp) {
  TlsPeer gamma(alpha_->link_address(), TlsPort::link, identities_.bundle("daemon/gamma"));
  gamma.send(gamma.seal(as_text(make_link_hello("gamma"))));
  alpha_->process().wait_for_line("link to gamma up");
  gamma.send(random_bytes(1000, 3));
  alpha_->process().wait_for_line(std::string("link_failed: ") + kAltered);
  EXPECT_EQ(gamma.wait_for_end().failure, TlsFailure::garbage);
  EXPECT_EQ(stream_->finish(), "");
  EXPECT_EQ(alpha_->count("links_up"), 2u);
  EXPECT_EQ(alpha_->count("links_down"), 1u);
  EXPECT_EQ(beta_->count("links_down"), 0u);
}

TEST_F(BeneathTls, GarbageEndsAlsoASessionThatIsOpen) {
  protocol::Hello hello;
  hello.name = "feed";
  Bytes body;
  protocol::write_hello(body, hello);
  TlsPeer feed(alpha_->client_address(), TlsPort::client, identities_.bundle("client/feed"));
  feed.send(feed.seal(as_text(body)));
  EXPECT_TRUE(feed.is_greeted());
  const std::size_t before = alpha_->process().line_count();
  feed.send(random_bytes(1000, 4));
  EXPECT_THAT(alpha_->process().wait_for_line(kAltered, before).text, HasSubstr("feed"));
  EXPECT_EQ(feed.wait_for_end().failure, TlsFailure::garbage);
  expect_undisturbed();
}

TEST_F(BeneathTls, WhatWasSentIsNotTakenAgain) {
  refuse(TlsPort::link, [](TlsPeer& peer) {
    const Bytes hello = make_link_hello("gamma");
    const Bytes sealed = peer.seal(as_text(hello).substr(0, 3));  // not so much that gamma would be a neighbour
    return join(sealed, sealed);
  });
  expect_undisturbed();
}

TEST_F(BeneathTls, ThereIsNoOtherHandshakeAndKeysAreRenewedInMeasure) {
  SPINDLE_TEST_NEEDS(why_no_openssl());
  const std::string gamma = identities_.bundle("daemon/gamma");
  const std::vector<std::string> arguments{
      "s_client", "-connect", alpha_->link_address(), "-alpn", "spindle-link/1", "-cert", gamma, "-key", gamma};
  Keyboard once, often;
  Process renegotiating(kEnv, openssl_options(arguments, once.input()));
  renegotiating.wait_for_line("Verification");
  once.type("R\n");
  renegotiating.wait_for_line("wrong ssl version");  // there is nothing of the kind that it could send
  alpha_->expect_serving();

  Process renewing(kEnv, openssl_options(arguments, often.input()));
  renewing.wait_for_line("Verification");
  int renewed = 0;
  const auto renew = [&] {
    const std::size_t before = renewing.line_count();
    often.type("K\n");
    renewing.wait_for_line("KEYUPDATE", before);
    ++renewed;
  };
  EXPECT_ANY_THROW(while (renewed < 1000) renew());  // until the end of openssl
  EXPECT_GT(renewed, TlsEngine::kMessagesAtOnce);
  alpha_->process().wait_for_line("the peer renews keys too often");
  expect_undisturbed();
}

}  // namespace
}  // namespace spindle::test
