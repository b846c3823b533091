// Programs whose connection is lost, or whose daemon goes, beside a daemon that is played frame by frame.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::ClientFrame;
using test::Bytes;
using test::close_frame;
using test::FakeDaemon;
using test::Frame;

class ClientReturn : public testing::Test {
 protected:
  ClientReturn() { daemon_.reconnect_timeout = ConnectOptions().reconnect_timeout; }

  /// The client comes again, as another one.
  protocol::Hello welcome_again(std::string_view name = "#me#fake") {
    daemon_.accept();
    hello_ = daemon_.read();
    Bytes bytes;
    protocol::write_welcome(bytes, {1, name});
    daemon_.write(bytes);
    return *protocol::read_hello(hello_.body);
  }
  void say_going() {
    Bytes bytes;
    protocol::write_going(bytes, 60'000);
    daemon_.write(bytes);
  }
  std::uint32_t read_confirm() {
    const Frame frame = daemon_.read();
    EXPECT_EQ(frame.type, ClientFrame::confirm);
    return protocol::read_confirm(frame.body).value_or(0);
  }
  void confirm(std::uint32_t request, std::uint64_t taken) {
    Bytes bytes;
    protocol::write_confirmed(bytes, {request, taken});
    daemon_.write(bytes);
  }

  FakeDaemon daemon_;
  Frame hello_;
};

TEST_F(ClientReturn, IsWhatProgramsDoThatSayNothing) {
  Connection connection = daemon_.connect();
  daemon_.hang_up();
  std::thread server([&] { EXPECT_TRUE(welcome_again("#other#fake").moves); });
  const auto event = connection.receive();
  server.join();
  ASSERT_TRUE(event && event->is<Reconnected>());
  EXPECT_FALSE(event->get<Reconnected>().resumed);
  EXPECT_EQ(connection.private_name(), "#other#fake");
  daemon_.write(close_frame(Errc::slow_receiver, "enough"));
  EXPECT_TRUE(connection.receive()->is<Disconnected>());
}

TEST_F(ClientReturn, ADaemonThatIsNotThereIsToldAtOnce) {
  EXPECT_EQ(Connection::connect({.address = daemon_.path() + "-not"}).error(), Errc::connect_failed);
}

// Nothing of a goodbye is told to the daemon that goes before what is held has gone out elsewhere.
TEST_F(ClientReturn, DisconnectsElsewhereWithWhatIsHeld) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  say_going();
  const std::uint32_t request = read_confirm();
  EXPECT_FALSE(connection.multicast(Service::agreed, "news", "held"));
  std::thread program([&] { EXPECT_EQ(connection.disconnect().messages, 0u); });
  while (connection.is_open()) std::this_thread::yield();
  confirm(request, 0);
  const Frame goodbye = daemon_.read();
  EXPECT_EQ(goodbye.type, ClientFrame::bye);
  EXPECT_FALSE(daemon_.has_hung_up);
  daemon_.write(close_frame(Errc::closed_by_client, "", 0));
  daemon_.hang_up();
  welcome_again();
  EXPECT_EQ(daemon_.read_messages(1).front(), "held");
  EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
  daemon_.write(close_frame(Errc::closed_by_client, "", 1));
  program.join();
}

// A group that was left without a connection is not joined again, and there is no last view of it.
TEST_F(ClientReturn, DrainsInANewSession) {
  Connection connection = daemon_.connect({.disconnect_timeout = 1h});
  EXPECT_FALSE(connection.join("news"));
  EXPECT_EQ(daemon_.read().type, ClientFrame::join);
  std::thread program([&] { EXPECT_EQ(connection.drain(1h).messages, 0u); });
  EXPECT_EQ(daemon_.read().type, ClientFrame::leave);
  daemon_.hang_up();
  welcome_again();
  EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
  daemon_.write(close_frame(Errc::closed_by_client, ""));
  program.join();
}

}  // namespace
}  // namespace spindle
