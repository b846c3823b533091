#include "libclient/tls/tls_engine.h"

#include <openssl/err.h>

#include <random>

#include "tests/unit/tls_pair.h"

namespace spindle::test {
namespace {

constexpr std::size_t kRecordBytes = 16u << 10;

std::string random_text(std::mt19937& random, std::size_t size) {
  std::string text(size, '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
  return text;
}

class TlsEngineTest : public TlsLinkTest {};

/// One direction of a connection: what is written, and where it comes out.
struct Direction {
  TlsEngine& from;
  TlsEngine& to;
  std::string text;
  std::size_t written = 0;
  std::string read;

  /// A step that `random` chooses; a few buffers are written, or a few bytes moved or read.
  void step(std::mt19937& random) {
    switch (random() % 3) {
      case 0:
        return write(random);
      case 1:
        move_bytes(from, to, 1 + random() % (random() % 2 == 0 ? 50 : 30000));
        return;
      default:
        read += read_some(to, 1 + random() % 20000);
    }
  }
  void write(std::mt19937& random) {
    std::vector<ByteView> buffers(1 + random() % 5);
    std::size_t at = written;
    for (ByteView& buffer : buffers) {
      const std::size_t size = std::min<std::size_t>(random() % (random() % 2 == 0 ? 100 : 40000), text.size() - at);
      buffer = as_bytes(text).subspan(at, size);
      at += size;
    }
    GatheredBytes bytes(buffers, random() % 100000);
    from.write({}, bytes);
    written += bytes.taken();
    EXPECT_LE(from.unsent().size(), TlsEngine::kUnsentMax);
  }
  bool is_done() const { return read.size() == text.size(); }
};

TEST_F(TlsEngineTest, BothEndsExportTheSameKeysAndNobodyElseDoes) {
  const auto exported = [](const TlsEngine& engine, std::string_view label) {
    std::vector<std::uint8_t> keys(88);
    EXPECT_TRUE(engine.export_keys(label, keys));
    return keys;
  };
  const auto pair = make_open_pair();
  const std::vector<std::uint8_t> keys = exported(pair->dialling, "EXPERIMENTAL-one");
  EXPECT_EQ(exported(pair->accepting, "EXPERIMENTAL-one"), keys);
  EXPECT_NE(exported(pair->dialling, "EXPERIMENTAL-two"), keys);
  EXPECT_NE(exported(make_open_pair()->dialling, "EXPERIMENTAL-one"), keys) << "another connection of the same two";
  EXPECT_TRUE(pair->dialling.has_dialled());
  EXPECT_FALSE(pair->accepting.has_dialled());
  std::vector<std::uint8_t> none(88);
  EXPECT_FALSE(make_pair()->dialling.export_keys("EXPERIMENTAL-one", none)) << "before the handshake";
}

TEST_F(TlsEngineTest, BytesArriveHoweverTheyAreCut) {
  std::mt19937 random(1);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kRecordBytes, kRecordBytes + 1,
                                 std::size_t{300000}, std::size_t{3} << 20}) {
    const auto pair = make_pair({.records = 100});
    Direction there{pair->dialling, pair->accepting, random_text(random, size), 0, {}};
    Direction back{pair->accepting, pair->dialling, random_text(random, size / 2), 0, {}};
    while (!there.is_done() || !back.is_done()) {
      (random() % 2 == 0 ? there : back).step(random);
      ASSERT_NE(pair->dialling.state(), State::failed) << pair->dialling.fault().text;
      ASSERT_NE(pair->accepting.state(), State::failed) << pair->accepting.fault().text;
    }
    EXPECT_TRUE(there.read == there.text && back.read == back.text);
  }
}

TEST_F(TlsEngineTest, EveryByteAlone) {
  const auto pair = make_pair();
  while (move_bytes(pair->dialling, pair->accepting, 1) + move_bytes(pair->accepting, pair->dialling, 1) > 0) {
  }
  write_some(pair->dialling, "hello");
  while (move_bytes(pair->dialling, pair->accepting, 1) > 0) pair->at_accepting += read_some(pair->accepting, 1);
  while (pair->at_accepting.size() < 5) pair->at_accepting += read_some(pair->accepting, 1);
  EXPECT_EQ(pair->at_accepting, "hello");
}

TEST_F(TlsEngineTest, NothingIsWrittenDuringTheHandshake) {
  const auto pair = make_pair();
  EXPECT_EQ(write_some(pair->dialling, "early"), 0u);
  EXPECT_EQ(write_some(pair->accepting, "early"), 0u);
  pair->settle();
  EXPECT_EQ(write_some(pair->dialling, "later"), 5u);
}

TEST_F(TlsEngineTest, SmallBuffersShareARecord) {
  const auto pair = make_open_pair();
  const std::string text(100, 'x');
  const std::vector<ByteView> buffers(200, as_bytes(text));
  GatheredBytes bytes(buffers, 20000 - 1);
  pair->dialling.write({}, bytes);
  EXPECT_EQ(bytes.taken(), 20000u - 1);
  EXPECT_EQ(pair->dialling.unsent().size(), 20000 - 1 + 2 * kRecordOverhead);
}

TEST_F(TlsEngineTest, UnsentIsBounded) {
  const auto pair = make_open_pair();
  const std::string text(1u << 20, 'x');
  std::size_t written = write_some(pair->dialling, text);
  EXPECT_GT(written, TlsEngine::kUnsentMax - 1000);
  for (int i = 0; i < 1000; ++i) written += write_some(pair->dialling, "more");
  EXPECT_EQ(write_some(pair->dialling, "more"), 0u);
  EXPECT_LE(pair->dialling.unsent().size(), TlsEngine::kUnsentMax);
  pair->dialling.finish_writing();
  EXPECT_LE(pair->dialling.unsent().size(), TlsEngine::kUnsentMax);
  pair->settle();
  EXPECT_EQ(pair->at_accepting.size(), written);
}

TEST_F(TlsEngineTest, TakesNoCiphertextBeforeWhatCameIsRead) {
  const auto pair = make_open_pair();
  write_some(pair->dialling, std::string(60000, 'x'));
  const std::size_t waiting = pair->dialling.unsent().size();
  EXPECT_LT(move_bytes(pair->dialling, pair->accepting), waiting);
  EXPECT_TRUE(pair->accepting.receive_space().empty());
  pair->settle();
  EXPECT_EQ(pair->at_accepting.size(), 60000u);
}

TEST_F(TlsEngineTest, EndsBehindWhatWasWritten) {
  const auto pair = make_open_pair();
  const std::string text(50000, 'x');
  EXPECT_EQ(write_some(pair->dialling, text), text.size());
  pair->dialling.finish_writing();
  EXPECT_EQ(write_some(pair->dialling, "more"), 0u);
  pair->settle();
  EXPECT_EQ(pair->at_accepting, text);
  EXPECT_EQ(pair->accepting.state(), State::ended);
  // The other direction goes on.
  EXPECT_EQ(write_some(pair->accepting, text), text.size());
  pair->accepting.finish_writing();
  pair->settle();
  EXPECT_EQ(pair->at_dialling, text);
  EXPECT_EQ(pair->dialling.state(), State::ended);
  pair->accepting.received_end();
  read_some(pair->accepting);
  EXPECT_EQ(pair->accepting.state(), State::ended);
}

TEST_F(TlsEngineTest, EndsAfterTheHandshakeIfAskedBefore) {
  const auto pair = make_pair();
  pair->dialling.finish_writing();
  pair->settle();
  EXPECT_EQ(pair->accepting.state(), State::ended);
  EXPECT_EQ(pair->dialling.state(), State::open);
}

TEST_F(TlsEngineTest, AStreamWithoutAnEndIsTruncated) {
  const auto pair = make_open_pair();
  write_some(pair->dialling, "all of this came");
  move_bytes(pair->dialling, pair->accepting);
  write_some(pair->dialling, "and this in part");
  move_bytes(pair->dialling, pair->accepting, 10);
  pair->accepting.received_end();
  EXPECT_EQ(read_some(pair->accepting), "all of this came");
  EXPECT_EQ(pair->accepting.state(), State::failed);
  EXPECT_EQ(pair->accepting.fault().failure, TlsFailure::truncated);
  EXPECT_FALSE(pair->accepting.fault().is_told_by_peer);
}

TEST_F(TlsEngineTest, NothingIsDeliveredBehindWhatWasAltered) {
  const auto pair = make_open_pair();
  write_some(pair->dialling, "good");
  const std::size_t good = pair->dialling.unsent().size();
  write_some(pair->dialling, "altered");
  write_some(pair->dialling, "behind it");
  std::vector<std::uint8_t> bytes(pair->dialling.unsent().begin(), pair->dialling.unsent().end());
  bytes[good + 8] ^= 1;
  pair->dialling.sent(bytes.size());
  feed(pair->accepting, bytes);
  EXPECT_EQ(read_some(pair->accepting), "good");
  EXPECT_EQ(read_some(pair->accepting), "");
  EXPECT_EQ(write_some(pair->accepting, "more"), 0u);
  EXPECT_EQ(pair->accepting.fault().failure, TlsFailure::garbage);
  pair->settle();
  EXPECT_EQ(pair->dialling.fault().failure, TlsFailure::garbage);
  EXPECT_TRUE(pair->dialling.fault().is_told_by_peer);
}

TEST_F(TlsEngineTest, ARecordOfAnotherVersionWasAltered) {
  const auto pair = make_open_pair();
  write_some(pair->dialling, "altered");
  std::vector<std::uint8_t> bytes(pair->dialling.unsent().begin(), pair->dialling.unsent().end());
  bytes[1] ^= 1;
  pair->dialling.sent(bytes.size());
  feed(pair->accepting, bytes);
  EXPECT_EQ(read_some(pair->accepting), "");
  EXPECT_EQ(pair->accepting.fault().failure, TlsFailure::garbage);
  pair->settle();
  EXPECT_EQ(pair->dialling.fault().failure, TlsFailure::garbage);
  EXPECT_TRUE(pair->dialling.fault().is_told_by_peer);
}

TEST_F(TlsEngineTest, ErrorsOfAnotherConnectionDoNotCount) {
  const auto pair = make_open_pair();
  ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
  write_some(pair->dialling, "hello");
  ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
  pair->settle();
  EXPECT_EQ(pair->at_accepting, "hello");
  EXPECT_EQ(pair->accepting.state(), State::open);
}

}  // namespace
}  // namespace spindle::test
