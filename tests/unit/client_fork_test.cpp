// Connections across fork(): the child's copy is harmless, and the parent's goes on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include "libclient/src/resolver.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::FakeDaemon;
using test::Frame;
using test::message_frame;

/// The address sanitizer of GCC 12 keeps its own locks as they are across fork(): where another thread held one, the
/// child waits for ever. Its leak checker takes what the child's missing threads held for leaks. Under the thread
/// sanitizer a child of a program with threads may start none. Other trees run these.
class ClientFork : public testing::Test {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  void SetUp() override { GTEST_SKIP() << "the sanitizer does not survive fork() in a program with threads"; }
#endif
};

/// Runs `child` in a child of fork(), which ends with what it returns, without any destructor of its parent's.
pid_t fork_with(const std::function<int()>& child) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::alarm(30);  // one that hangs does not outlive the test
  ::_exit(child());
}

/// What the child has ended with; a signal as its negative number.
int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int fork_and_wait(const std::function<int()>& child) { return wait_for(fork_with(child)); }

/// How many things are wrong with `copy`, which a child has inherited.
int wrong_with(Connection& copy) {
  std::error_code error;
  const bool right[] = {!copy.is_open(),
                        copy.join("g") == Errc::not_connected,
                        copy.leave("g") == Errc::not_connected,
                        copy.request_view("g") == Errc::not_connected,
                        copy.request_flow("g") == Errc::not_connected,
                        copy.multicast(Service::fifo, "g", "of the child") == Errc::not_connected,
                        copy.try_multicast(Service::fifo, "g", "of the child") == Errc::not_connected,
                        !copy.receive(),
                        !copy.receive(1h, error) && error == Errc::not_connected,
                        copy.descriptor() == -1};
  copy.set_handler([](Event&&) {});
  copy.disconnect();
  return static_cast<int>(std::count(std::begin(right), std::end(right), false));
}

/// Expects that the daemon gets nothing but a message from the parent, and the parent one from the daemon.
void expect_alive(FakeDaemon& daemon, Connection& connection) {
  EXPECT_TRUE(connection.is_open());
  EXPECT_FALSE(connection.multicast(Service::fifo, "g", "of the parent"));
  EXPECT_EQ(daemon.read_messages(1).at(0), "of the parent");
  EXPECT_TRUE(daemon.write(message_frame("for the parent")));
  const std::optional<Event> event = connection.receive();
  ASSERT_TRUE(event && event->is<Message>());
  EXPECT_EQ(event->get<Message>().text(), "for the parent");
}

TEST_F(ClientFork, AStopInTheChildConcernsNobody) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.disconnect_timeout = 1ms});
  std::stop_source source;
  std::atomic<int> ended = 0;
  connection.confirm_then(
      1h, [&](NotTaken) { ++ended; }, source.get_token());
  std::thread reader([&] {
    const std::optional<Event> event = connection.receive(source.get_token());
    EXPECT_TRUE(event && event->is<Message>());
  });
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(fork_and_wait([&] {
              source.request_stop();
              return connection.receive(source.get_token()) ? 1 : 0;
            }),
            0);
  EXPECT_EQ(ended, 0);
  daemon.write(message_frame("for the parent"));
  reader.join();
}

TEST_F(ClientFork, TheChildHasAClosedConnection) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  EXPECT_EQ(fork_and_wait([&] { return wrong_with(connection); }), 0);
  expect_alive(daemon, connection);
  daemon.hang_up();
}

TEST_F(ClientFork, TheChildDestroysAndAssignsItsCopy) {
  FakeDaemon daemon;
  auto connection = std::make_unique<Connection>(daemon.connect());
  EXPECT_EQ(fork_and_wait([&] {
              const Connection moved = std::move(*connection);
              connection.reset();
              return 7;
            }),
            7);
  EXPECT_EQ(fork_and_wait([&] {
              *connection = Connection();
              return 8;
            }),
            8);
  expect_alive(daemon, *connection);
  daemon.hang_up();
}

TEST_F(ClientFork, TheChildExits) {
  FakeDaemon daemon;
  static Connection global;  // destroyed at the exit
  global = daemon.connect();
  std::fflush(nullptr);
  EXPECT_EQ(fork_and_wait([]() -> int { std::exit(9); }), 9);
  expect_alive(daemon, global);
  daemon.hang_up();
  global = Connection();
}

TEST_F(ClientFork, TheChildMakesAConnectionOfItsOwn) {
  FakeDaemon of_parent, of_child;
  Connection connection = of_parent.connect();
  EXPECT_EQ(fork_and_wait([&] {
              connection = of_child.connect();
              expect_alive(of_child, connection);
              of_child.hang_up();
              return testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
  expect_alive(of_parent, connection);
  of_parent.hang_up();
}

TEST_F(ClientFork, HoweverBusyTheConnectionIs) {
  FakeDaemon daemon;
  Connection connection = daemon.connect({.send_buffer_bytes = 64u << 10});
  std::atomic<bool> stop = false;
  std::thread sender([&] {
    while (!stop) EXPECT_FALSE(connection.multicast(Service::fifo, "g", std::string(1000, 'x')));
    connection.disconnect();
  });
  std::thread receiver([&] {
    while (connection.receive()) {
    }
  });
  std::thread server([&] {
    while (daemon.read().type != protocol::ClientFrame::bye) daemon.write(message_frame("y"));
    daemon.hang_up();
  });
  for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) {
    EXPECT_EQ(fork_and_wait([&] {
                const int wrong = wrong_with(connection);
                const Connection gone = std::move(connection);
                return wrong;
              }),
              0);
  }
  stop = true;
  sender.join();
  receiver.join();
  server.join();
}

// The child's only thread is then the copy of the connection's own: it ends, and so does the child.
TEST_F(ClientFork, AHandlerForks) {
  FakeDaemon daemon;
  Connection connection = daemon.connect();
  std::promise<pid_t> child;
  std::fflush(nullptr);
  connection.set_handler([&](Event&& event) {
    if (!event.is<Message>()) return;
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::alarm(30);
    } else {
      child.set_value(pid);
    }
  });
  EXPECT_TRUE(daemon.write(message_frame("now")));
  EXPECT_EQ(wait_for(child.get_future().get()), 0);
  connection.set_handler({});
  expect_alive(daemon, connection);
  daemon.hang_up();
}

TEST_F(ClientFork, TheChildHasNoneOfTheLookupsOfItsParent) {
  std::error_code error;
  std::string text;
  std::promise<void> goes_on;
  const Lookup hangs = [future = goes_on.get_future().share()](auto...) {
    future.wait();
    return EAI_AGAIN;
  };
  for (int i = 0; i < kLookupsMax; ++i) {
    EXPECT_EQ(resolve("host", "4803", std::chrono::steady_clock::now(), error, text, hangs), nullptr);
  }
  EXPECT_EQ(fork_and_wait([] {
              std::error_code of_child;
              std::string why;
              const Lookup found = [](const char*, const char* port, const addrinfo* hints, addrinfo** first) {
                return ::getaddrinfo("127.0.0.1", port, hints, first);
              };
              return resolve("host", "4803", Deadline::max(), of_child, why, found) != nullptr ? 0 : 1;
            }),
            0);
  EXPECT_EQ(running_lookups(), kLookupsMax) << "they are the parent's";
  goes_on.set_value();
  while (running_lookups() != 0) std::this_thread::yield();
}

TEST_F(ClientFork, TheDaemonSeesTheParentDieThoughTheChildLives) {
  FakeDaemon daemon;
  int held[2];
  ASSERT_EQ(::pipe(held), 0);
  const pid_t parent = fork_with([&] {
    Connection connection = Connection::connect({.address = daemon.path()}).value();
    fork_with([&] {
      ::close(held[1]);
      char byte = 0;
      return static_cast<int>(::read(held[0], &byte, 1));  // until the test lets go of the other end
    });
    ::close(held[1]);
    EXPECT_FALSE(connection.multicast(Service::fifo, "g", "forked"));
    return ::pause();
  });
  daemon.accept();
  EXPECT_EQ(daemon.read().type, protocol::ClientFrame::hello);
  test::Bytes welcome;
  protocol::write_welcome(welcome, {1, "#me#fake"});
  EXPECT_TRUE(daemon.write(welcome));
  EXPECT_EQ(daemon.read_messages(1).at(0), "forked");
  EXPECT_EQ(::kill(parent, SIGKILL), 0);
  EXPECT_EQ(wait_for(parent), -SIGKILL);
  EXPECT_EQ(daemon.read().type, protocol::ClientFrame::bye) << "the end of the stream";
  ::close(held[1]);
  ::close(held[0]);
}

}  // namespace
}  // namespace spindle
