// Signals that arrive while the library waits in a system call, and those that system calls raise.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>

#include "libclient/common/framing.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::FakeDaemon;

std::atomic<int> signals_handled = 0;

/// While it lives, a signal interrupts system calls of this thread again and again: nothing is restarted by itself.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_handled; };
    ::sigaction(SIGUSR1, &action, &before_);
    signals_handled = 0;
    sender_ = std::thread([this, target = ::pthread_self()] {
      while (!stop_) {
        const int seen = signals_handled;
        ::pthread_kill(target, SIGUSR1);
        while (!stop_ && signals_handled == seen) std::this_thread::yield();
      }
    });
  }
  ~Interruptions() {
    stop_ = true;
    sender_.join();
    ::sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  std::atomic<bool> stop_ = false;
  std::thread sender_;
};

void wait_for_signals(int count) {
  while (signals_handled < count) std::this_thread::yield();
}

struct Listening {
  Descriptor socket;
  sockaddr_storage address{};
  socklen_t address_bytes = sizeof address;
};

/// Has room for one connection that was not accepted.
Listening listen_tcp() {
  Listening listening;
  listening.socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listening.socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
  EXPECT_EQ(::listen(listening.socket.get(), 0), 0);
  auto* address = reinterpret_cast<sockaddr*>(&listening.address);
  EXPECT_EQ(::getsockname(listening.socket.get(), address, &listening.address_bytes), 0);
  return listening;
}

/// Connects until no further connection has room.
std::vector<Descriptor> fill(const Listening& listening) {
  const auto* address = reinterpret_cast<const sockaddr*>(&listening.address);
  std::vector<Descriptor> connections;
  while (true) {
    Descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(socket.get(), address, listening.address_bytes) != 0 && errno == EAGAIN) return connections;
    pollfd connecting{socket.get(), POLLOUT, 0};
    const bool connected = ::poll(&connecting, 1, 100) == 1;
    connections.push_back(std::move(socket));
    if (!connected) return connections;
  }
}

/// Accepts connections until one of them says something, whenever that is: the one that does. The others stay open
/// until then.
Descriptor accept_who_speaks(const Descriptor& listener) {
  std::vector<Descriptor> accepted;
  while (true) {
    std::vector<pollfd> waiting{{listener.get(), POLLIN, 0}};
    for (const Descriptor& each : accepted) waiting.push_back({each.get(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < accepted.size(); ++i) {
      if (waiting[i + 1].revents != 0) return std::move(accepted[i]);
    }
    if (waiting[0].revents != 0) accepted.emplace_back(::accept(listener.get(), nullptr, nullptr));
  }
}

/// Welcomes the connection that says hello.
void serve(const Descriptor& listener) {
  const Descriptor socket = accept_who_speaks(listener);
  test::Bytes welcome;
  protocol::write_welcome(welcome, {1, "#me#fake"});
  EXPECT_EQ(::send(socket.get(), welcome.data(), welcome.size(), MSG_NOSIGNAL), static_cast<ssize_t>(welcome.size()));
  std::uint8_t bytes[256];
  while (::recv(socket.get(), bytes, sizeof bytes, 0) > 0) {
  }
}

void expect_connects(const Listening& listening, const std::string& address) {
  const std::vector<Descriptor> others = fill(listening);
  std::thread server;
  {
    const Interruptions interruptions;
    server = std::thread([&] {
      wait_for_signals(100);
      serve(listening.socket);
    });
    const Result<Connection> connection = Connection::connect({.address = address, .connect_timeout = 30s});
    EXPECT_TRUE(connection) << connection.text();
    if (!connection) std::abort();  // the server would wait for ever
  }
  server.join();
}

/// The thread sanitizer of GCC 12 does not know how a condition variable waits for a time: a thread that does handles
/// its signals afterwards only. Other trees run these.
class ClientSignalsInConnecting : public testing::Test {
#if defined(__SANITIZE_THREAD__)
  void SetUp() override { GTEST_SKIP() << "the sanitizer keeps signals back from a thread that waits"; }
#endif
};

TEST_F(ClientSignalsInConnecting, ByUnixSocket) {
  const std::string path = "/tmp/spindle-client-signals-" + std::to_string(::getpid());
  ::unlink(path.c_str());
  Listening listening;
  listening.socket = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto& address = reinterpret_cast<sockaddr_un&>(listening.address);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  listening.address_bytes = sizeof address;
  ASSERT_EQ(::bind(listening.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening.socket.get(), 0), 0);
  expect_connects(listening, path);
  ::unlink(path.c_str());
}

TEST_F(ClientSignalsInConnecting, ByTcp) {
  const Listening listening = listen_tcp();
  const auto& address = reinterpret_cast<const sockaddr_in&>(listening.address);
  expect_connects(listening, "127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
}

TEST(ClientSignals, InterruptSendingAndReceiving) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_buffer_bytes = 4096});
  const std::string payload(100'000, 'x');
  std::thread server([&] {
    EXPECT_EQ(daemon.read_messages(100).size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(daemon.write(test::message_frame("y")));
  });
  {
    const Interruptions interruptions;
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(connection.multicast(Service::fifo, "g", payload));
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(connection.receive());
  }
  server.join();
  daemon.hang_up();
}

TEST(ClientSignals, ADaemonThatHangsUpRaisesNone) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { ++signals_handled; };
  ::sigaction(SIGPIPE, &action, &before);
  signals_handled = 0;
  {
    FakeDaemon daemon;
    Connection connection = daemon.connect();
    daemon.hang_up();
    while (!connection.multicast(Service::fifo, "g", "into the void")) {
    }
    connection.disconnect();
  }
  EXPECT_EQ(signals_handled, 0);
  ::sigaction(SIGPIPE, &before, nullptr);
}

}  // namespace
}  // namespace spindle
