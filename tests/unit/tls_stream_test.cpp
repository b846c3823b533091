#include "libclient/tls/tls_stream.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/unit/tls_pair.h"

namespace spindle::test {
namespace {

/// Two streams on a pair of connected sockets.
class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets_), 0);
    dialling_.emplace(sockets_[0], make_context(kLinkDialling, make_bundle(authority_, daemon_contents("alpha"))),
                      kToday, KeyLifetime{.records = 100});
    accepting_.emplace(sockets_[1], make_context(kLinkAccepting, make_bundle(authority_, daemon_contents("beta"))),
                       kToday, KeyLifetime{.records = 100});
  }
  ~TlsStreamTest() override {
    for (const int socket : sockets_) ::close(socket);
  }

  static std::string read(TlsStream& stream, IoResult& result, std::size_t size = 1000) {
    std::string text(size, '\0');
    result = stream.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
    text.resize(result.bytes);
    return text;
  }
  static IoResult write(TlsStream& stream, std::string_view text) {
    const ByteView buffer = as_bytes(text);
    return stream.write(std::span(&buffer, 1), text.size());
  }
  void establish() {
    for (int i = 0; i < 4; ++i) {
      for (TlsStream* stream : {&*dialling_, &*accepting_}) {
        IoResult result;
        stream->flush();
        EXPECT_EQ(read(*stream, result), "");
        EXPECT_TRUE(result.would_block());
      }
    }
    ASSERT_TRUE(dialling_->is_established()) << dialling_->protection_failure();
    ASSERT_TRUE(accepting_->is_established()) << accepting_->protection_failure();
  }

  TestAuthority authority_;
  int sockets_[2] = {-1, -1};
  std::optional<TlsStream> dialling_, accepting_;
};

TEST_F(TlsStreamTest, IsEstablishedByReadingAndFlushing) {
  EXPECT_FALSE(dialling_->is_established());
  EXPECT_GT(dialling_->unsent(), 0u);
  EXPECT_TRUE(write(*dialling_, "early").would_block());
  establish();
  EXPECT_EQ(dialling_->unsent(), 0u);
  EXPECT_THAT(dialling_->identities(), testing::ElementsAre("daemon:beta"));
  EXPECT_THAT(accepting_->identities(), testing::ElementsAre("daemon:alpha"));
  EXPECT_EQ(accepting_->protection_failure(), "");
  EXPECT_EQ(write(*dialling_, "hello").bytes, 5u);
  IoResult result;
  EXPECT_EQ(read(*accepting_, result), "hello");
  EXPECT_EQ(result.error, 0);
}

TEST_F(TlsStreamTest, ReadLeavesNothingBehindUnlessTheSpaceIsFull) {
  establish();
  for (int i = 0; i < 20; ++i) write(*dialling_, std::string(3000, 'x'));
  IoResult result;
  EXPECT_EQ(read(*accepting_, result, 10).size(), 10u);
  // More than the socket still has lies inside.
  EXPECT_EQ(read(*accepting_, result, 50000).size(), 50000u);
  EXPECT_EQ(read(*accepting_, result, 50000).size(), 9990u);
  EXPECT_FALSE(result.is_failure());
  pollfd socket{sockets_[1], POLLIN, 0};
  EXPECT_EQ(::poll(&socket, 1, 0), 0);
}

TEST_F(TlsStreamTest, WriteTakesNoMoreWhileTheSocketIsFull) {
  establish();
  const std::string text(1u << 20, 'x');
  std::size_t written = 0;
  for (IoResult result; !result.would_block();) {
    result = write(*dialling_, text);
    EXPECT_FALSE(result.is_failure());
    written += result.bytes;
  }
  EXPECT_GT(dialling_->unsent(), 0u);
  EXPECT_LE(dialling_->unsent(), TlsEngine::kUnsentMax);
  EXPECT_EQ(write(*dialling_, text).bytes, 0u);
  std::size_t arrived = 0;
  for (IoResult result; arrived < written;) {
    arrived += read(*accepting_, result, 100000).size();
    ASSERT_FALSE(result.is_failure());
    dialling_->flush();
  }
  EXPECT_EQ(dialling_->unsent(), 0u);
  EXPECT_EQ(arrived, written);
}

TEST_F(TlsStreamTest, EndsBehindWhatWasWritten) {
  establish();
  const std::string text(1u << 20, 'x');
  const std::size_t written = write(*dialling_, text).bytes;
  EXPECT_LT(written, text.size());
  dialling_->finish_writing();
  EXPECT_EQ(write(*dialling_, text).error, EPIPE);
  std::size_t arrived = 0;
  IoResult result;
  while (!result.is_failure()) {
    arrived += read(*accepting_, result, 100000).size();
    dialling_->flush();
  }
  EXPECT_EQ(result.error, IoResult::kEndOfStream);
  EXPECT_EQ(arrived, written);
  // The socket itself has seen the end, too, and the other direction goes on.
  char byte = 0;
  EXPECT_EQ(::recv(sockets_[1], &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_EQ(write(*accepting_, "answer").bytes, 6u);
  EXPECT_EQ(read(*dialling_, result), "answer");
}

TEST_F(TlsStreamTest, BytesComeWithTheEndBehindThem) {
  establish();
  write(*dialling_, "last words");
  dialling_->finish_writing();
  IoResult result;
  EXPECT_EQ(read(*accepting_, result), "last words");
  EXPECT_EQ(result.error, IoResult::kEndOfStream);
  EXPECT_EQ(read(*accepting_, result), "");
  EXPECT_EQ(result.error, IoResult::kEndOfStream);
}

TEST_F(TlsStreamTest, ASocketThatEndsAloneIsAFailure) {
  establish();
  write(*dialling_, "last words");
  dialling_->shut_down();
  IoResult result;
  EXPECT_EQ(read(*accepting_, result), "last words");
  EXPECT_EQ(read(*accepting_, result), "");
  EXPECT_EQ(result.error, ECONNRESET);
  EXPECT_EQ(accepting_->fault().failure, TlsFailure::truncated);
  EXPECT_FALSE(accepting_->protection_failure().empty());
  EXPECT_EQ(write(*accepting_, "answer").error, IoResult::kProtectionFailed);
  EXPECT_EQ(write(*dialling_, "more").error, EPIPE);
}

TEST_F(TlsStreamTest, APeerWithoutACertificateThatIsGoneIsNoFailureOfTls) {
  const std::string bundle = make_bundle(authority_, daemon_contents("beta"));
  accepting_.emplace(sockets_[1], make_context(kAnyClientAccepting, bundle), kToday);
  dialling_.emplace(sockets_[0], make_context(kClientDialling, authority_.certificate()), kToday);
  establish();
  EXPECT_TRUE(accepting_->identities().empty());
  dialling_->shut_down();
  IoResult result;
  EXPECT_EQ(read(*accepting_, result), "");
  EXPECT_EQ(result.error, ECONNRESET);
}

TEST_F(TlsStreamTest, BothSeeARefusal) {
  TestAuthority other("another");
  TlsStream stranger(sockets_[0],
                     make_context(kLinkDialling, make_bundle(other, daemon_contents("x")) + authority_.certificate()),
                     kToday);
  IoResult at_accepting, at_stranger;
  for (int i = 0; i < 4; ++i) {
    stranger.flush();
    read(*accepting_, at_accepting);
    read(stranger, at_stranger);
  }
  EXPECT_EQ(at_accepting.error, IoResult::kProtectionFailed);
  EXPECT_EQ(at_stranger.error, IoResult::kProtectionFailed);
  EXPECT_FALSE(accepting_->is_established());
  EXPECT_THAT(accepting_->identities(), testing::IsEmpty());
  EXPECT_EQ(accepting_->fault().failure, TlsFailure::untrusted);
  EXPECT_EQ(stranger.fault().failure, TlsFailure::untrusted);
  EXPECT_TRUE(stranger.fault().is_told_by_peer);
}

/// Each stream is read by one thread and written by another at the same time.
TEST_F(TlsStreamTest, OneThreadReadsWhileAnotherWrites) {
  establish();
  constexpr std::size_t kBytes = 4u << 20;
  const auto wait = [](int socket, short event) {
    pollfd waiting{socket, event, 0};
    EXPECT_EQ(::poll(&waiting, 1, 60000), 1);
  };
  const auto send_all = [&](TlsStream& stream, int socket) {
    const std::string text(kBytes, 'x');
    for (std::size_t written = 0; written < kBytes || stream.unsent() > 0;) {
      const IoResult result = write(stream, std::string_view(text).substr(written));
      ASSERT_FALSE(result.is_failure());
      written += result.bytes;
      if (written < kBytes || stream.unsent() > 0) wait(socket, POLLOUT);
    }
  };
  const auto receive_all = [&](TlsStream& stream, int socket) {
    IoResult result;
    for (std::size_t arrived = 0; arrived < kBytes;) {
      constexpr std::size_t kSpace = 50000;
      arrived += read(stream, result, kSpace).size();
      ASSERT_FALSE(result.is_failure());
      if (result.bytes < kSpace && arrived < kBytes) wait(socket, POLLIN);
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(send_all, std::ref(*dialling_), sockets_[0]);
  threads.emplace_back(receive_all, std::ref(*dialling_), sockets_[0]);
  threads.emplace_back(send_all, std::ref(*accepting_), sockets_[1]);
  threads.emplace_back(receive_all, std::ref(*accepting_), sockets_[1]);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace spindle::test
