#include "daemon/net/pending_handshakes.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

constexpr Time kNow{1h};

class PendingHandshakesTest : public testing::Test {
 protected:
  ConnectionId add(const std::string& peer, Port port = Port::client) {
    const ConnectionId id{++last_id_};
    EXPECT_TRUE(pending_.add(kNow, id, port, peer));
    return id;
  }
  void add_many(std::size_t count, const std::string& host) {
    for (std::size_t i = 0; i < count; ++i) add(host + ":" + std::to_string(i));
  }
  std::vector<ConnectionId> start_all(Port port = Port::client) {
    std::vector<ConnectionId> started;
    while (const auto next = pending_.start_next(kNow, port)) started.push_back(*next);
    return started;
  }

  PendingHandshakes pending_;
  std::uint64_t last_id_ = 0;
};

TEST_F(PendingHandshakesTest, StartsInOrderOfArrival) {
  const ConnectionId first = add("10.0.0.1:1");
  const ConnectionId second = add("10.0.0.1:2");
  EXPECT_EQ(start_all(), (std::vector{first, second}));
  EXPECT_EQ(pending_.remove(first), "10.0.0.1:1");
  EXPECT_EQ(pending_.remove(first), std::nullopt);
  EXPECT_EQ(pending_.remove(second), "10.0.0.1:2");
  EXPECT_TRUE(pending_.empty());
}

TEST_F(PendingHandshakesTest, TellsWhoIsHere) {
  const ConnectionId first = add("10.0.0.1:1");
  start_all();
  ASSERT_NE(pending_.find(first), nullptr);
  EXPECT_EQ(*pending_.find(first), "10.0.0.1:1");
  pending_.remove(first);
  EXPECT_EQ(pending_.find(first), nullptr);
}

TEST_F(PendingHandshakesTest, PortsDoNotWaitForEachOther) {
  add_many(PendingHandshakes::kUnderWayPerAddressMax, "10.0.0.1");
  EXPECT_EQ(start_all().size(), PendingHandshakes::kUnderWayPerAddressMax);
  const ConnectionId link = add("10.0.0.1:9", Port::link);
  EXPECT_EQ(start_all(Port::link), std::vector{link});
}

TEST_F(PendingHandshakesTest, AnAddressHasFewUnderWay) {
  add_many(100, "10.0.0.1");
  const std::vector<ConnectionId> started = start_all();
  EXPECT_EQ(started.size(), PendingHandshakes::kUnderWayPerAddressMax);
  const ConnectionId other = add("10.0.0.2:1");
  EXPECT_EQ(start_all(), std::vector{other});
  pending_.remove(started[3]);
  EXPECT_EQ(start_all().size(), 1u);
}

TEST_F(PendingHandshakesTest, AddressesTakeTurns) {
  add_many(10, "10.0.0.1");
  const ConnectionId other = add("10.0.0.2:1");
  pending_.start_next(kNow, Port::client);
  EXPECT_EQ(pending_.start_next(kNow, Port::client), other);
}

TEST_F(PendingHandshakesTest, ManyAddressesHaveABoundTogether) {
  for (int host = 0; host < 100; ++host) add_many(16, "10.0.1." + std::to_string(host));
  EXPECT_EQ(start_all().size(), PendingHandshakes::kUnderWayMax);
}

TEST_F(PendingHandshakesTest, TheLineHasBounds) {
  add_many(PendingHandshakes::kWaitingPerAddressMax, "10.0.0.1");
  EXPECT_FALSE(pending_.add(kNow, ConnectionId{999'999}, Port::client, "10.0.0.1:9"));
  for (const char* host : {"10.0.0.2", "10.0.0.3", "10.0.0.4"}) {
    add_many(PendingHandshakes::kWaitingPerAddressMax, host);
  }
  EXPECT_FALSE(pending_.add(kNow, ConnectionId{999'999}, Port::client, "10.0.0.5:9"));
  EXPECT_TRUE(pending_.add(kNow, ConnectionId{999'999}, Port::link, "10.0.0.5:9"));
}

TEST_F(PendingHandshakesTest, WhoLeavesTheLineMakesRoomInIt) {
  const ConnectionId first = add("10.0.0.1:1");
  const ConnectionId second = add("10.0.0.1:2");
  pending_.remove(first);
  EXPECT_EQ(start_all(), std::vector{second});
  pending_.remove(second);
  EXPECT_TRUE(pending_.empty());
  EXPECT_TRUE(start_all().empty());
}

TEST_F(PendingHandshakesTest, TimeBeginsAnewWithTheHandshake) {
  const ConnectionId id = add("10.0.0.1:1");
  const Time started = kNow + PendingHandshakes::kTime / 2;
  EXPECT_EQ(pending_.start_next(started, Port::client), id);
  EXPECT_TRUE(pending_.overdue(kNow + PendingHandshakes::kTime).empty());
  EXPECT_EQ(pending_.overdue(started + PendingHandshakes::kTime), std::vector{id});
}

}  // namespace
}  // namespace spindled
