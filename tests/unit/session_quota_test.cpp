// What the quotas of the configuration make of a client's frames, within a whole daemon.
#include "tests/unit/sessions_harness.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

class SessionQuota : public test::SessionsTest {
 protected:
  static QuotaLimits connections(std::size_t most) { return {.connections = most}; }
  static QuotaLimits memberships(std::size_t most) { return {.memberships = most}; }
  static QuotaLimits rate(std::size_t bytes_per_s) { return {.bytes_per_s = bytes_per_s}; }
  static QuotaLimits memory(std::size_t bytes) { return {.memory_bytes = bytes}; }

  void take(std::vector<QuotaRule> quotas) {
    AccessConfig access;
    access.quotas = std::move(quotas);
    reconfigure(access);
  }
  bool is_welcome(ConnectionId connection) { return !frames_of(connection, ClientFrame::welcome).empty(); }
  void leave_daemon(ConnectionId connection) {
    std::vector<std::uint8_t> frames;
    protocol::write_bye(frames);
    read(connection, frames);
    turn();
  }
};

TEST_F(SessionQuota, ConnectionsOfOneIdentityAreCountedTogether) {
  take({{{"cert:b*"}, connections(1)}, {{"anyone"}, connections(2)}});
  const ConnectionId first = open({"cert:ann"});
  EXPECT_TRUE(is_welcome(first));
  EXPECT_TRUE(is_welcome(open({"cert:ann"})));
  const ConnectionId third = open({"cert:ann"});
  EXPECT_FALSE(is_welcome(third));
  EXPECT_EQ(close_of(third).code, static_cast<std::uint16_t>(Errc::too_many_sessions));
  leave_daemon(first);
  EXPECT_TRUE(is_welcome(open({"cert:ann"}))) << "one has left";
}

TEST_F(SessionQuota, TheFirstQuotaThatNamesAClientDecides) {
  take({{{"cert:b*"}, connections(1)}, {{"anyone"}, connections(2)}});
  EXPECT_TRUE(is_welcome(open({"cert:bob"})));
  EXPECT_TRUE(is_welcome(open({"cert:bill"}))) << "another identity";
  EXPECT_FALSE(is_welcome(open({"cert:bob"})));
}

TEST_F(SessionQuota, MembershipsEndWithALeaveAndWithTheClient) {
  take({{{"cert:ann"}, memberships(2)}});
  const ConnectionId first = open({"cert:ann"});
  const ConnectionId second = open({"cert:ann"});
  EXPECT_EQ(ask(first, ClientFrame::join, "news"), kDone);
  EXPECT_EQ(ask(second, ClientFrame::join, "news"), kDone);
  EXPECT_EQ(ask(second, ClientFrame::join, "orders"), Errc::too_many_memberships);
  EXPECT_EQ(ask(second, ClientFrame::join, "news"), Errc::already_a_member) << "that is no further one";
  EXPECT_EQ(ask(first, ClientFrame::leave, "news"), kDone);
  EXPECT_EQ(ask(second, ClientFrame::join, "orders"), kDone);
  EXPECT_EQ(ask(first, ClientFrame::join, "prices"), Errc::too_many_memberships);
  leave_daemon(second);
  EXPECT_EQ(ask(first, ClientFrame::join, "prices"), kDone);
  EXPECT_EQ(ask(first, ClientFrame::join, "news"), kDone);
  EXPECT_EQ(ask(first, ClientFrame::join, "orders"), Errc::too_many_memberships);
}

TEST_F(SessionQuota, ANewQuotaTakesNothingAwayAndCountsWhatThereIs) {
  const ConnectionId first = open({"cert:ann"});
  for (const char* group : {"news", "orders", "prices"}) EXPECT_EQ(ask(first, ClientFrame::join, group), kDone);
  take({{{"cert:ann"}, memberships(2)}});
  EXPECT_EQ(node_.memory().memberships, 3u);
  EXPECT_EQ(ask(first, ClientFrame::join, "more"), Errc::too_many_memberships);
  EXPECT_EQ(ask(first, ClientFrame::leave, "news"), kDone);
  EXPECT_EQ(ask(first, ClientFrame::join, "more"), Errc::too_many_memberships);
  take({});
  EXPECT_EQ(ask(first, ClientFrame::join, "more"), kDone);
}

TEST_F(SessionQuota, MessagesWaitForTheRateOfTheirIdentity) {
  take({{{"cert:ann"}, rate(100'000)}});
  const ConnectionId reader = open({"cert:bob"});
  ask(reader, ClientFrame::join, "news");
  const ConnectionId ann = open({"cert:ann"});
  std::vector<std::uint8_t> frames;
  constexpr std::size_t kBytes = 10'000, kMessages = 60;
  for (std::uint16_t i = 0; i < kMessages; ++i) write_typed(frames, i, kBytes);
  read(ann, frames);
  const Time began = now_;
  std::size_t at_once = 0;
  while (got(reader).size() < kMessages && now_ < began + 60s) {
    turn();
    if (now_ - began < 100ms) at_once = got(reader).size();
  }
  EXPECT_EQ(got(reader).size(), kMessages);
  EXPECT_LE(at_once, 5u) << "what comes together is a quarter of a second's";
  const double expected_s = kMessages * kBytes / 100'000.0;
  EXPECT_NEAR(to_seconds(now_ - began), expected_s, 0.1 * expected_s);
  for (std::uint16_t i = 0; i < kMessages; ++i) EXPECT_EQ(got(reader)[i].first, i);
}

TEST_F(SessionQuota, OneLargeMessageEntersWholeAndIsWaitedFor) {
  take({{{"cert:ann"}, rate(10'000)}});
  const ConnectionId reader = open({"cert:bob"});
  ask(reader, ClientFrame::join, "news");
  const ConnectionId ann = open({"cert:ann"});
  std::vector<std::uint8_t> frames;
  write_typed(frames, 1, 30'000);
  write_typed(frames, 2, 10);
  read(ann, frames);
  for (int i = 0; i < 3; ++i) turn();
  ASSERT_EQ(got(reader).size(), 1u);
  const Time began = now_;
  while (got(reader).size() < 2 && now_ < began + 60s) turn();
  EXPECT_NEAR(to_seconds(now_ - began), (30'000 - 2'500) / 10'000.0, 0.3);
}

TEST_F(SessionQuota, WhoComesAnewHasWhatIsLeftOfItsRate) {
  take({{{"cert:ann"}, rate(10'000)}});
  const ConnectionId reader = open({"cert:bob"});
  ask(reader, ClientFrame::join, "news");
  const Time began = now_;
  for (std::uint16_t type = 1; type <= 2; ++type) {
    const ConnectionId ann = open({"cert:ann"});
    std::vector<std::uint8_t> frames;
    write_typed(frames, type, 30'000);
    read(ann, frames);
    while (got(reader).size() < type && now_ < began + 60s) turn();
    leave_daemon(ann);
  }
  ASSERT_EQ(got(reader).size(), 2u);
  EXPECT_GT(to_seconds(now_ - began), 2.0);
}

TEST_F(SessionQuota, OthersAreNotHeldUp) {
  take({{{"cert:ann"}, rate(1000)}});
  const ConnectionId reader = open({"cert:bob"});
  ask(reader, ClientFrame::join, "news");
  const ConnectionId ann = open({"cert:ann"});
  std::vector<std::uint8_t> frames;
  for (int i = 0; i < 10; ++i) write_typed(frames, 1, 1000);
  read(ann, frames);
  frames.clear();
  for (int i = 0; i < 10; ++i) write_typed(frames, 2, 1000);
  protocol::write_define(frames, {1, {"orders"}});
  read(reader, frames);
  for (int i = 0; i < 3; ++i) turn();
  std::size_t of_others = 0;
  for (const auto& [type, bytes] : got(reader)) of_others += type == 2 ? 1 : 0;
  EXPECT_EQ(of_others, 10u);
}

TEST_F(SessionQuota, WhoHoldsMostOfItsIdentitysMemoryGoes) {
  take({{{"cert:ann"}, memory(1u << 20)}});
  std::vector<std::uint8_t> frames;
  write_typed(frames, 1, 2u << 20);
  const auto begin = [&](const char* identity, std::size_t bytes) {
    const ConnectionId connection = open({identity});
    read(connection, spindle::ByteView(frames).first(bytes));
    turn();
    return connection;
  };
  const ConnectionId large = begin("cert:ann", 900'000);
  const ConnectionId other = begin("cert:bob", 1'500'000);
  now_ += 1s;
  turn();
  EXPECT_TRUE(frames_of(large, ClientFrame::close).empty());
  const ConnectionId small = begin("cert:ann", 200'000);
  now_ += 1s;
  turn();
  EXPECT_EQ(close_of(large).code, static_cast<std::uint16_t>(Errc::limit_exceeded));
  EXPECT_EQ(logged("their [[quota]] allows"), 1u);
  EXPECT_TRUE(frames_of(other, ClientFrame::close).empty());
  read(small, spindle::ByteView(frames).subspan(200'000, 600'000));
  now_ += 1s;
  turn();
  EXPECT_TRUE(frames_of(small, ClientFrame::close).empty()) << "the other one has given up what it held";
}

}  // namespace
}  // namespace spindled
