// Views of groups with very many members, from the table of clients to the client library.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "daemon/link/links.h"
#include "daemon/order/order.h"
#include "daemon/overlay/overlay.h"
#include "daemon/session/sessions.h"
#include "libclient/protocol/client_engine.h"
#include "libclient/protocol/member_list.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;

class OneClient final : public Driver, public LogSink {
 public:
  // Driver
  ConnectionId dial(std::string_view) override { return ConnectionId{0}; }
  std::size_t write(ConnectionId, std::span<const ByteView> buffers) override {
    std::size_t taken = 0;
    for (const ByteView& buffer : buffers) {
      written.insert(written.end(), buffer.begin(), buffer.end());
      taken += buffer.size();
    }
    return taken;
  }
  void close(ConnectionId) override { closed = true; }
  void set_reading(ConnectionId, bool) override {}
  void wake_at(Time) override {}

  // LogSink
  bool wants(LogLevel) const override { return false; }
  void write(LogLevel, std::string_view, std::string_view) override {}

  std::vector<std::uint8_t> written;
  bool closed = false;
};

/// The table of clients and what it needs, with one client.
class LargeViews : public testing::Test {
 protected:
  LargeViews() {
    groups_.attach(order_, sessions_.clients());
    sessions_.handle_accepted(now_, ConnectionId{1}, "a client");
    client_.start({.name = "ann"});
    const ByteView hello = client_.output();
    std::copy(hello.begin(), hello.end(), sessions_.read_space(ConnectionId{1}).begin());
    sessions_.handle_read(now_, ConnectionId{1}, hello.size());
    flush();
  }
  void flush() {
    sessions_.flush(now_);
    client_.handle_bytes(std::exchange(driver_.written, {}));
  }
  static NodeConfig config() {
    NodeConfig config;
    config.name = std::string(spindle::kDaemonNameBytesMax, 'd');
    config.incarnation = 1;
    return config;
  }
  static constexpr std::span<const SessionId> first() { return kFirst; }
  static constexpr SessionId kFirst[] = {1};

  Time now_{1s};
  OneClient driver_;
  Context context_{config(), driver_, 1};
  Links links_{context_, driver_};
  Overlay overlay_{context_, links_};
  Groups groups_{context_};
  Order order_{context_, overlay_.streams(), groups_};
  Admission admission_{context_, links_, overlay_, order_, groups_};
  Channels channels_{context_, groups_};
  Feeds feeds_{context_, links_, groups_, admission_.own()};
  Sessions sessions_{context_, driver_, groups_, channels_, feeds_, admission_};
  protocol::ClientEngine client_;
};

/// As many private names as long as they get.
std::vector<std::string> longest_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    std::string client = std::to_string(i);
    client.insert(0, spindle::kClientNameBytesMax - client.size(), 'c');
    names.push_back(spindle::make_private_name(client, std::string(spindle::kDaemonNameBytesMax, 'd')));
  }
  return names;
}

TEST_F(LargeViews, OfThreeHundredThousandMembersComeInPieces) {
  ASSERT_TRUE(client_.is_open());
  const std::vector<std::string> names = longest_names(300'000);
  const protocol::MemberList list(names);
  protocol::GroupViewFrame view{"news", {1, "d", 3, 1}};
  view.members.assign(names.begin(), names.end());
  view.joined = {view.members.back()};
  view.digest = list.digest();
  view.member_count = static_cast<std::uint32_t>(names.size());
  ASSERT_GT(protocol::view_bytes(view), spindle::kFrameLengthMax);
  protocol::GroupViewFrame farewell{"news", {1, "d", 3, 2}, spindle::ViewCause::leave, spindle::ViewForm::farewell};
  farewell.left = {names.front()};
  sessions_.clients().deliver_view(first(), view);
  sessions_.clients().deliver_view(first(), farewell);
  // One turn does not write all of it.
  do {
    flush();
  } while (sessions_.next_deadline() <= now_);
  const std::vector<spindle::Event> events = client_.take_events();
  ASSERT_EQ(events.size(), 2u);
  const auto* got = events[0].get_if<spindle::GroupView>();
  ASSERT_TRUE(got != nullptr);
  EXPECT_EQ(got->members, names);
  EXPECT_EQ(got->member_count, names.size());
  EXPECT_EQ(got->digest, list.digest());
  EXPECT_TRUE(events[1].is<spindle::GroupView>()) << "what follows is read where it begins";
}

TEST_F(LargeViews, ThatNoClientTakesEndTheConnectionWithAReason) {
  const std::string name = longest_names(1).front();
  protocol::GroupViewFrame view{"news", {1, "d", 3, 1}};
  view.members.assign(protocol::kViewBytesMax / (1 + name.size()), name);
  ASSERT_LE(protocol::view_bytes(view), protocol::kViewBytesMax);
  view.members.push_back(name);
  ASSERT_GT(protocol::view_bytes(view), protocol::kViewBytesMax);
  sessions_.clients().deliver_view(first(), view);
  flush();
  const std::vector<spindle::Event> events = client_.take_events();
  ASSERT_EQ(events.size(), 1u);
  const auto* end = events[0].get_if<spindle::Disconnected>();
  ASSERT_TRUE(end != nullptr);
  EXPECT_EQ(end->error, spindle::Errc::limit_exceeded);
  EXPECT_TRUE(driver_.closed);
}

}  // namespace
}  // namespace spindled
