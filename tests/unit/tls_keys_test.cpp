// New keys: when this side takes them, and how often a peer may.
#include <gmock/gmock.h>

#include "tests/unit/tls_raw_peer.h"

namespace spindle::test {
namespace {

class TlsKeys : public TlsLinkTest {};

/// The message (RFC 8446, section 4.6.3) makes the one record longer.
TEST_F(TlsKeys, KeysAreRenewedAfterRecordsAndAfterTime) {
  const auto pair = make_open_pair({.records = 3, .time = 1h});
  const auto bytes_of_one = [&](SteadyTime now) {
    EXPECT_EQ(write_some(pair->dialling, "x", now), 1u);
    const std::size_t size = pair->dialling.unsent().size();
    pair->settle();
    return size;
  };
  constexpr std::size_t kPlain = 1 + kRecordOverhead;
  constexpr std::size_t kRenewed = kPlain + 5 + kRecordOverhead;
  const SteadyTime start{10min};
  const auto sizes = [&](SteadyTime now, int count) {
    std::vector<std::size_t> result;
    for (int i = 0; i < count; ++i) result.push_back(bytes_of_one(now));
    return result;
  };
  EXPECT_THAT(sizes(start, 7), testing::ElementsAre(kPlain, kPlain, kPlain, kRenewed, kPlain, kPlain, kRenewed));
  EXPECT_THAT(sizes(start + 59min, 1), testing::ElementsAre(kPlain));
  EXPECT_THAT(sizes(start + 60min, 2), testing::ElementsAre(kRenewed, kPlain));
  EXPECT_EQ(pair->at_accepting, std::string(10, 'x'));
}

/// A peer that renews keys at will, and an engine on the other side.
class TlsKeysOfAPeer : public testing::Test {
 protected:
  TlsKeysOfAPeer() {
    peer_.use(authority_.issue(daemon_contents("alpha")));
    EXPECT_TRUE(peer_.run(engine_));
  }

  /// `update` is one of SSL_KEY_UPDATE_.... Gives what the engine reads behind `count` of them.
  std::string renew(int count, int update, SteadyTime now, const std::string& text = {}) {
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(SSL_key_update(peer_.ssl(), update), 1);
      EXPECT_EQ(SSL_do_handshake(peer_.ssl()), 1);
    }
    if (!text.empty()) SSL_write(peer_.ssl(), text.data(), static_cast<int>(text.size()));
    const std::string records = peer_.take_output();
    std::string result;
    for (ByteView rest = as_bytes(records); !rest.empty() && engine_.state() == State::open;) {
      rest = rest.subspan(feed(engine_, rest));
      result += read_some(engine_, 1000, now);
    }
    return result;
  }

  TestAuthority authority_;
  RawPeer peer_{TlsSide::dialling};
  TlsEngine engine_{make_context(kLinkAccepting, make_bundle(authority_, daemon_contents("beta"))), kToday};
};

TEST_F(TlsKeysOfAPeer, SomeAreTakenAtOnceAndOneInAnInterval) {
  SteadyTime now{10min};
  EXPECT_EQ(renew(TlsEngine::kMessagesAtOnce, SSL_KEY_UPDATE_NOT_REQUESTED, now, "hello"), "hello");
  for (int i = 0; i < 100; ++i) {
    now += TlsEngine::kMessageInterval;
    EXPECT_EQ(renew(1, SSL_KEY_UPDATE_NOT_REQUESTED, now, "x"), "x");
  }
  EXPECT_EQ(engine_.state(), State::open) << engine_.fault().text;
  now += 1h;
  EXPECT_EQ(renew(TlsEngine::kMessagesAtOnce, SSL_KEY_UPDATE_NOT_REQUESTED, now, "hello"), "hello");
}

TEST_F(TlsKeysOfAPeer, AFloodIsAFailure) {
  EXPECT_EQ(renew(TlsEngine::kMessagesAtOnce + 1, SSL_KEY_UPDATE_NOT_REQUESTED, SteadyTime(10min), "never read"), "");
  EXPECT_EQ(engine_.state(), State::failed);
  EXPECT_EQ(engine_.fault().failure, TlsFailure::handshake_error);
  EXPECT_THAT(engine_.fault().text, testing::HasSubstr("renews keys too often"));
}

/// What the peer asks for is answered, so that the answers tell how many were read.
TEST_F(TlsKeysOfAPeer, OfAFloodNoMoreIsReadThanMayCome) {
  renew(1000, SSL_KEY_UPDATE_REQUESTED, SteadyTime(10min));
  EXPECT_EQ(engine_.state(), State::failed);
  EXPECT_LE(engine_.unsent().size(), (TlsEngine::kMessagesAtOnce + 2) * (5 + kRecordOverhead));
}

/// OpenSSL answers each request of the peer, which an end of Spindle never makes.
TEST_F(TlsKeysOfAPeer, AnswersThatPileUpAreAFailure) {
  SteadyTime now{10min};
  renew(5, SSL_KEY_UPDATE_REQUESTED, now);
  EXPECT_EQ(engine_.state(), State::open);
  EXPECT_GE(engine_.unsent().size(), 4 * (5 + kRecordOverhead));  // the last may wait for the next record
  for (int i = 0; i < 5000; ++i) renew(1, SSL_KEY_UPDATE_REQUESTED, now += TlsEngine::kMessageInterval);
  EXPECT_EQ(engine_.state(), State::failed);
  EXPECT_THAT(engine_.fault().text, testing::HasSubstr("takes no answers"));
  EXPECT_LT(engine_.unsent().size(), TlsEngine::kUnsentMax + 1000);
}

}  // namespace
}  // namespace spindle::test
