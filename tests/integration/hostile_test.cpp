// Strangers that send nonsense, too much, too little or nothing to every port, while two clients of two daemons talk.
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "daemon/admin/admin_frames.h"
#include "daemon/link/hello.h"
#include "daemon/link/link_limits.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/integration/clients.h"
#include "tests/integration/raw_socket.h"
#include "tests/support/payload_frames.h"

namespace spindle::test {
namespace {

using protocol::ClientFrame;

/// Those who speak, and who only stand still for a while, are not to run out of it.
constexpr const char* kImpatience = "[session]\nhandshake_timeout_ms = 3000\n\n[link]\nhandshake_timeout_ms = 3000\n";
constexpr std::uint64_t kStep = 20;  // messages of the stream between two attacks

struct Attack {
  std::string name;
  Bytes bytes;
  Errc reason;
};

std::uint8_t code(ClientFrame type) { return static_cast<std::uint8_t>(type); }
std::uint8_t code(spindled::LinkFrame type) { return static_cast<std::uint8_t>(type); }
std::uint8_t code(spindled::AdminFrame type) { return static_cast<std::uint8_t>(type); }

Bytes client_hello(const protocol::Hello& hello) {
  Bytes bytes;
  protocol::write_hello(bytes, hello);
  return bytes;
}

Bytes link_hello(const std::function<void(spindled::LinkHello&)>& change = {}) {
  spindled::NodeConfig config;
  config.name = "stranger";
  spindled::LinkHello hello = spindled::make_hello(config);
  if (change) change(hello);
  return make_frame(code(spindled::LinkFrame::control), spindled::encode_control(hello));
}

std::vector<Attack> attacks_on_clients() {
  const Bytes hello = client_hello({});
  const auto after_hello = [&](const Bytes& frame) { return join(hello, frame); };
  const Bytes nonsense = random_bytes(40, 1);
  Bytes send_to_nobody;
  append_agreed_message(send_to_nobody, 17, {});
  return {
      {"a frame that does not exist", make_frame(200, 10), Errc::unexpected_frame},
      {"random bytes", random_bytes(100'000, 2), Errc::frame_too_large},
      {"an oversized hello", make_frame(code(ClientFrame::hello), 1100), Errc::frame_too_large},
      {"the head of the largest frame", make_frame_head(code(ClientFrame::send), spindle::kFrameLengthMax),
       Errc::frame_too_large},
      {"a malformed hello", make_frame(code(ClientFrame::hello), nonsense), Errc::malformed_frame},
      {"an empty hello", make_frame(code(ClientFrame::hello), 0), Errc::malformed_frame},
      {"versions to come", client_hello({7, 9, 0, "future"}), Errc::version_mismatch},
      {"a bad name", client_hello({1, 1, 0, "two words"}), Errc::bad_client_name},
      {"a name in use", client_hello({1, 1, 0, "stream-receiver"}), Errc::name_in_use},
      {"a message before the hello", make_frame(code(ClientFrame::send), 20), Errc::unexpected_frame},
      {"a second hello", after_hello(hello), Errc::unexpected_frame},
      {"a frame of the daemon's", after_hello(make_frame(code(ClientFrame::welcome), 4)), Errc::unexpected_frame},
      {"a malformed define", after_hello(make_frame(code(ClientFrame::define), nonsense)), Errc::malformed_frame},
      {"an oversized define", after_hello(make_frame(code(ClientFrame::define), protocol::kClientFrameBytesMax + 1)),
       Errc::frame_too_large},
      {"an oversized message", after_hello(make_frame_head(code(ClientFrame::send), 100'000)), Errc::frame_too_large},
      {"a malformed message", after_hello(make_frame(code(ClientFrame::send), nonsense)), Errc::malformed_frame},
      {"a message to nobody", after_hello(send_to_nobody), Errc::malformed_frame},
      {"the rest of no message", after_hello(make_frame(code(ClientFrame::send_more), 100)), Errc::unexpected_frame},
      {"a malformed join", after_hello(make_frame(code(ClientFrame::join), 1)), Errc::malformed_frame},
      {"random bytes behind a hello", after_hello(random_bytes(100'000, 3)), Errc::frame_too_large},
      {"silence", {}, Errc::handshake_timeout},
      {"half a frame and silence", make_frame_head(code(ClientFrame::hello), 100), Errc::handshake_timeout},
  };
}

std::vector<Attack> attacks_on_links() {
  using spindled::LinkFrame;
  const auto after_hello = [](const Bytes& frame) { return join(link_hello(), frame); };
  const Bytes nonsense = random_bytes(40, 4);
  return {
      {"a frame that does not exist", make_frame(200, 10), Errc::malformed_frame},
      {"random bytes", random_bytes(100'000, 5), Errc::malformed_frame},
      {"data before the handshake", make_frame(code(LinkFrame::data), 100), Errc::unexpected_frame},
      {"an oversized handshake", make_frame(code(LinkFrame::control), spindled::kHandshakeFrameBytesMax + 1),
       Errc::frame_too_large},
      {"a malformed handshake", make_frame(code(LinkFrame::control), nonsense), Errc::malformed_frame},
      {"versions to come", link_hello([](auto& hello) { hello.version_min = hello.version_max = 9; }),
       Errc::version_mismatch},
      {"another cluster", link_hello([](auto& hello) { hello.cluster = "other"; }), Errc::cluster_mismatch},
      {"other settings", link_hello([](auto& hello) { ++hello.settings_digest; }), Errc::settings_mismatch},
      {"the daemon's own name", link_hello([](auto& hello) {
         hello.daemon = {"beta", 5};
       }),
       Errc::name_conflict},
      {"a malformed control frame", after_hello(make_frame(code(LinkFrame::control), nonsense)), Errc::malformed_frame},
      {"a second hello", after_hello(link_hello()), Errc::unexpected_frame},
      {"an oversized control frame",
       after_hello(make_frame_head(code(LinkFrame::control), spindled::kControlFrameBytesMax + 1)),
       Errc::frame_too_large},
      {"an oversized data frame", after_hello(make_frame_head(code(LinkFrame::data), spindled::kDataFrameBytesMax + 1)),
       Errc::frame_too_large},
      {"a malformed view", after_hello(make_frame(code(LinkFrame::view), nonsense)), Errc::malformed_frame},
      {"a short ping", after_hello(make_frame(code(LinkFrame::ping), 3)), Errc::malformed_frame},
      {"a frame that does not exist behind a hello", after_hello(make_frame(200, 10)), Errc::malformed_frame},
      {"silence", {}, Errc::handshake_timeout},
      {"half a frame and silence", make_frame_head(code(LinkFrame::control), 100), Errc::handshake_timeout},
      {"silence behind a hello", link_hello(), Errc::silent_peer},
  };
}

std::vector<Attack> attacks_on_administration() {
  using spindled::AdminFrame;
  return {
      {"a frame that does not exist", make_frame(200, 10), Errc::unexpected_frame},
      {"random bytes", random_bytes(100'000, 6), Errc::unexpected_frame},
      {"a reply", make_frame(code(AdminFrame::reply), 10), Errc::unexpected_frame},
      {"an oversized request", make_frame_head(code(AdminFrame::request), spindled::kAdminRequestBytesMax + 1),
       Errc::frame_too_large},
      {"a malformed request", make_frame(code(AdminFrame::request), Bytes(40, 0xff)), Errc::malformed_frame},
      {"a request for nothing", make_frame(code(AdminFrame::request), 0), Errc::unknown_request},
  };
}

/// alpha and beta with a link between them, over which a stream of messages runs; beta is attacked.
class Hostile : public ::testing::Test {
 protected:
  static DaemonOptions options(const char* name, std::vector<std::string> neighbours) {
    DaemonOptions result;
    result.name = name;
    result.neighbours = std::move(neighbours);
    result.configuration = kImpatience;
    return result;
  }

  /// Makes each attack twice: to hear the reason, and to hang up after half of it, and after all.
  void attack_all(const std::string& address, const std::vector<Attack>& attacks,
                  CloseReason (*read_close)(RawSocket&)) {
    for (const Attack& attack : attacks) {
      SCOPED_TRACE(attack.name + " to " + address);
      {
        RawSocket half(address), whole(address);
        half.write(
            Bytes(attack.bytes.begin(), attack.bytes.begin() + static_cast<std::ptrdiff_t>(attack.bytes.size() / 2)));
        whole.write(attack.bytes);
      }
      stream_.wait_for(kStep);
      RawSocket socket(address);
      socket.write(attack.bytes);
      const CloseReason close = read_close(socket);
      EXPECT_EQ(to_string(static_cast<Errc>(close.code)), to_string(attack.reason)) << close.text;
      stream_.wait_for(kStep);
    }
  }

  void TearDown() override {
    beta_.expect_serving();
    EXPECT_EQ(stream_.finish(), "");
  }

  Daemon beta_{options("beta", {})};
  Daemon alpha_{options("alpha", {beta_.link_address()})};
  MessageStream stream_{alpha_, beta_};
};

TEST_F(Hostile, TheClientPortByTcp) { attack_all(beta_.client_address(), attacks_on_clients(), read_client_close); }

TEST_F(Hostile, TheClientPortByUnixSocket) {
  attack_all("unix:" + beta_.socket(), attacks_on_clients(), read_client_close);
}

TEST_F(Hostile, TheLinkPort) { attack_all(beta_.link_address(), attacks_on_links(), read_link_close); }

TEST_F(Hostile, TheAdministrationSocket) {
  RawSocket silent("unix:" + beta_.admin_socket());
  RawSocket half("unix:" + beta_.admin_socket());
  half.write(make_frame_head(code(spindled::AdminFrame::request), 100));
  attack_all("unix:" + beta_.admin_socket(), attacks_on_administration(), read_admin_close);
  // These two are let go of when the daemon's patience ends.
  EXPECT_EQ(read_admin_close(silent).code, static_cast<std::uint16_t>(Errc::timed_out));
  EXPECT_EQ(read_admin_close(half).code, static_cast<std::uint16_t>(Errc::timed_out));
}

TEST_F(Hostile, CrowdsOfSilentConnections) {
  // More than either of the last two takes at one time.
  std::vector<RawSocket> clients, links, administrators;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back(i % 2 == 0 ? beta_.client_address() : "unix:" + beta_.socket());
    administrators.emplace_back("unix:" + beta_.admin_socket());
    for (int k = 0; k < 3; ++k) links.emplace_back(beta_.link_address());
    if (i % 20 == 0) stream_.wait_for(kStep);
  }
  stream_.wait_for(kStep);
  for (RawSocket& client : clients) {
    EXPECT_EQ(read_client_close(client).code, static_cast<std::uint16_t>(Errc::handshake_timeout));
  }
  // Either for their silence or for their number.
  for (RawSocket& link : links) EXPECT_NE(read_link_close(link).code, 0);
}

TEST_F(Hostile, AReasonIsTheSameForTheClientInTheLogAndInACounter) {
  RawSocket socket(beta_.client_address());
  socket.write(client_hello({7, 9, 0, "future"}));
  const CloseReason close = read_client_close(socket);
  EXPECT_EQ(close.code, static_cast<std::uint16_t>(Errc::version_mismatch));
  EXPECT_NE(close.text, "");
  beta_.process().wait_for_line("version_mismatch: " + close.text);
  spindle::admin::Request request;
  request.mutable_counters();
  const spindle::admin::Reply reply = beta_.ask(request);
  std::uint64_t counted = 0;
  for (const spindle::admin::CloseCount& count : reply.counters().closes()) {
    if (count.code() == close.code) counted = count.value();
  }
  EXPECT_EQ(counted, 1u);
}

TEST(Crowd, ClientsBeyondTheLimitAreToldSoAndThoseWithinItGoOn) {
  constexpr std::size_t kSessionsMax = 20;
  DaemonOptions options;
  options.configuration = "[session]\nsessions_max = " + std::to_string(kSessionsMax) + "\n";
  Daemon daemon(options);
  MessageStream stream(daemon, daemon);
  std::vector<Connection> welcome;
  for (std::size_t i = 2; i < kSessionsMax; ++i) welcome.push_back(daemon.connect("guest" + std::to_string(i)));
  for (int i = 0; i < 100; ++i) {
    ConnectOptions late;
    late.address = i % 2 == 0 ? daemon.client_address() : daemon.socket();
    late.connect_timeout = kPatience;
    const Result<Connection> refused = Connection::connect(late);
    EXPECT_EQ(refused.error(), Errc::too_many_sessions) << refused.text();
    if (i % 20 == 0) stream.wait_for(kStep);
  }
  for (const Connection& client : welcome) EXPECT_TRUE(client.is_open());
  welcome.clear();
  daemon.expect_serving();
  EXPECT_EQ(stream.finish(), "");
}

TEST(SlowReceiver, IsCutOffSoonWhereTooMuchWaitsForIt) {
  DaemonOptions options;
  options.configuration = "[session]\nqueue_soft_bytes = 65536\nqueue_hard_bytes = 1048576\n";
  Daemon daemon(options);
  Connection sender = daemon.connect("sender");
  RawSocket slow("unix:" + daemon.socket());
  slow.write(client_hello({1, 1, 0, "slow"}));
  static_cast<void>(slow.read_frame());  // it is welcome, and reads nothing from then on
  EXPECT_FALSE(sender.multicast(Service::agreed, "#slow#alpha", std::string(8u << 20, '.')));
  const std::string line = daemon.process().wait_for_line("closed: slow_receiver: ").text;
  const CloseReason close = read_client_close(slow);
  EXPECT_EQ(close.code, static_cast<std::uint16_t>(Errc::slow_receiver));
  EXPECT_NE(line.find("slow_receiver: " + close.text), std::string::npos) << close.text;
  EXPECT_TRUE(sender.is_open());
  daemon.expect_serving();
}

TEST(SlowReceiver, IsCutOffWithTheReasonAndTheOthersMissNothing) {
  DaemonOptions options;
  options.configuration = "[session]\nqueue_soft_bytes = 65536\nstall_timeout_ms = 5000\n";
  Daemon daemon(options);
  // It joins, and reads nothing from then on.
  RawSocket slow("unix:" + daemon.socket());
  Bytes bytes = client_hello({1, 1, 0, "slow"});
  protocol::write_group_request(bytes, ClientFrame::join, {1, "news"});
  slow.write(bytes);
  Connection reader = daemon.connect("reader");
  EXPECT_FALSE(reader.join("news"));
  wait_for_members(reader, "news", {"#slow#alpha", "#reader#alpha"});

  auto cut_off = std::async(std::launch::async, [&] {
    daemon.process().wait_for_line("closed: slow_receiver: ");
    return read_client_close(slow);
  });
  Connection sender = daemon.connect("sender");
  constexpr int kMessages = 1000;
  auto sending = std::async(std::launch::async, [&] {
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_FALSE(sender.multicast(Service::agreed, "news", std::to_string(i) + std::string(10'000, '.')));
    }
  });
  const KillAtEnd end({&daemon});
  for (int i = 0; i < kMessages; ++i) {
    const std::string text(next_message(reader).text());
    EXPECT_EQ(text.substr(0, text.find('.')), std::to_string(i));
  }
  sending.get();
  EXPECT_EQ(to_string(static_cast<Errc>(cut_off.get().code)), "slow_receiver");
  daemon.expect_serving();
}

}  // namespace
}  // namespace spindle::test
