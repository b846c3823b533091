// A client's connection by TLS, to a socket that has no room for all that the client sends, or is gone.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "libclient/common/defaults.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/src/socket.h"
#include "libclient/tls/tls_stream.h"
#include "spindle/connection.h"
#include "tests/support/payload_frames.h"
#include "tests/unit/tls_pair.h"

namespace {

std::atomic<std::uint64_t> polls = 0;

}  // namespace

/// That of the system, counted: how often a thread looks whether there is something to do.
extern "C" int poll(pollfd* waiting, nfds_t count, int timeout_ms) {
  ++polls;
  const timespec time{timeout_ms / 1'000, timeout_ms % 1'000 * 1'000'000L};
  return ::ppoll(waiting, count, timeout_ms < 0 ? nullptr : &time, nullptr);
}

namespace spindle::test {
namespace {

constexpr int kSmall = 4096;

CertificateContents lasting(CertificateContents contents) {
  contents.until = kToday + 3'650 * kDay;
  return contents;
}

/// The daemon's end of one connection. Buffers of the system are small.
class TlsDaemon {
 public:
  explicit TlsDaemon(const TestAuthority& authority)
      : TlsDaemon(authority, authority.issue(lasting(daemon_contents("alpha")))) {}
  TlsDaemon(const TestAuthority& authority, const TestCertificate& certificate)
      : context_(make_context(kClientAccepting, make_bundle(authority, certificate))),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &kSmall, sizeof kSmall);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
  }

  std::uint16_t port() const { return port_; }
  void welcome() {
    socket_ = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    stream_.emplace(socket_.get(), context_, wall_time());
    ASSERT_TRUE(read(1)) << "the hello";
    std::vector<std::uint8_t> bytes;
    protocol::write_welcome(bytes, {1, "#me#alpha"});
    write(bytes);
  }
  void write(ByteView bytes) { EXPECT_EQ(stream_->write(std::span(&bytes, 1), bytes.size()).bytes, bytes.size()); }
  /// Its host knows nothing of the connection any more.
  void vanish() {
    const linger at_once{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    const Descriptor gone = std::move(socket_);
  }
  /// Takes a client that goes away again.
  void refuse() {
    socket_ = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    stream_.emplace(socket_.get(), context_, wall_time());
    EXPECT_FALSE(read(1));
  }
  /// Whether so many bytes come. What never comes is given up after a while in which nothing does.
  bool read(std::size_t bytes) {
    std::vector<std::uint8_t> room(10'000);
    for (std::size_t done = 0; done < bytes;) {
      const IoResult result = stream_->read(room);
      done += result.bytes;
      if (result.is_failure()) return false;
      pollfd waiting{socket_.get(), static_cast<short>(stream_->unsent() != 0 ? POLLIN | POLLOUT : POLLIN), 0};
      if (result.bytes == 0 && ::poll(&waiting, 1, 20'000) <= 0) return false;
    }
    return true;
  }

 private:
  std::shared_ptr<const TlsContext> context_;
  Descriptor listener_;
  std::uint16_t port_ = 0;
  Descriptor socket_;
  std::optional<TlsStream> stream_;
};

/// The socket of this process that is connected to the port.
int socket_to(std::uint16_t port) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int number = std::stoi(each.path().filename());
    sockaddr_in to{};
    socklen_t size = sizeof to;
    const bool is_connected = ::getpeername(number, reinterpret_cast<sockaddr*>(&to), &size) == 0;
    if (is_connected && to.sin_family == AF_INET && ntohs(to.sin_port) == port) return number;
  }
  return -1;
}

/// A file with that text, while this is there.
class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_(testing::TempDir() + "spindle-" + std::to_string(::getpid()) + "-" + name) {
    std::ofstream(path_) << text;
  }
  ~File() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

TEST(TlsConnection, IsRefusedWhereTheEnvironmentNamesAListThatRevokesTheDaemon) {
  const TestAuthority authority;
  const TestCertificate certificate = authority.issue(lasting(daemon_contents("alpha")));
  const File bundle("bundle.pem", make_bundle(authority, lasting(client_contents("me"))));
  const File lists("lists.crl", authority.revoke({certificate.serial}, kToday + 3'650 * kDay));
  TlsDaemon daemon(authority, certificate);
  std::thread refused([&] { daemon.refuse(); });
  ::setenv(kRevocationListsVariable, lists.path().c_str(), 1);
  const Result<Connection> connection =
      Connection::connect({.address = "tls:127.0.0.1:" + std::to_string(daemon.port()), .tls_bundle = bundle.path()});
  ::unsetenv(kRevocationListsVariable);
  refused.join();
  EXPECT_EQ(connection.error(), Errc::tls_failed);
  EXPECT_NE(connection.text().find("revoked"), std::string::npos) << connection.text();
}

ConnectOptions options_for(const TlsDaemon& daemon, const File& bundle) {
  ConnectOptions options;
  options.address = "tls:127.0.0.1:" + std::to_string(daemon.port());
  options.tls_bundle = bundle.path();
  options.reconnect_timeout = std::chrono::milliseconds(0);
  options.keepalive = std::chrono::milliseconds(0);
  options.disconnect_timeout = std::chrono::milliseconds(1);
  return options;
}

// The stream has taken all of it, and nothing else that the program does would have the end written.
TEST(TlsConnection, SendsWhatTheSocketHadNoRoomFor) {
  const TestAuthority authority;
  const File bundle("bundle.pem", make_bundle(authority, lasting(client_contents("me"))));
  TlsDaemon daemon(authority);
  std::thread welcomes([&] { daemon.welcome(); });
  Result<Connection> connection = Connection::connect(options_for(daemon, bundle));
  welcomes.join();
  ASSERT_TRUE(connection) << connection.text();
  ::setsockopt(socket_to(daemon.port()), SOL_SOCKET, SO_SNDBUF, &kSmall, sizeof kSmall);
  const std::string payload(60'000, 'x');
  static_assert(60'000 < TlsEngine::kUnsentMax);
  // The connection's thread sleeps by then, in some of them at least.
  for (int i = 0; i < 20; ++i) {
    ASSERT_FALSE(connection->try_multicast(Service::fifo, "news", payload));
    ASSERT_TRUE(daemon.read(payload.size()));
  }
}

// Nothing is read of it, as the program takes no events, and what the stream has taken stays there.
TEST(TlsConnection, RestsWhereItCannotBeWrittenToAnyMore) {
  for (const bool pings : {true, false}) {
    SCOPED_TRACE(pings);
    const TestAuthority authority;
    const File bundle("bundle.pem", make_bundle(authority, lasting(client_contents("me"))));
    TlsDaemon daemon(authority);
    std::thread welcomes([&] { daemon.welcome(); });
    ConnectOptions options = options_for(daemon, bundle);
    options.receive_buffer_bytes = 1;
    if (pings) options.keepalive = std::chrono::milliseconds(10);
    Result<Connection> connection = Connection::connect(options);
    welcomes.join();
    ASSERT_TRUE(connection) << connection.text();
    ::setsockopt(socket_to(daemon.port()), SOL_SOCKET, SO_SNDBUF, &kSmall, sizeof kSmall);
    std::vector<std::uint8_t> message;
    append_message_frame(message, {4, 0, "#peer#alpha", {"news"}, 1, as_bytes("x")});
    daemon.write(message);
    pollfd there{connection->descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&there, 1, 20'000), 1);
    if (!pings) {
      ASSERT_FALSE(connection->try_multicast(Service::fifo, "news", std::string(60'000, 'x')));
    }
    daemon.vanish();
    for (int i = 0; i < 1'000 && connection->is_open(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(connection->is_open());
    const std::uint64_t before = polls;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_LT(polls - before, 500u) << "one that spins polls thousands of times";
    EXPECT_TRUE(connection->receive()->is<Message>());
    EXPECT_TRUE(connection->receive()->is<Disconnected>());
  }
}

}  // namespace
}  // namespace spindle::test
