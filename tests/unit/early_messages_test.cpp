// Messages that come before the group table of their view.
#include "daemon/group/early_messages.h"

#include <gtest/gtest.h>

#include "tests/unit/order_cluster.h"

namespace spindled {
namespace {

class EarlyMessagesOf : public testing::Test {
 protected:
  EarlyMessagesOf() : context(NodeConfig{}, sink, 1), early(context) {}

  void add(std::uint64_t number, Service service, std::size_t bytes) {
    Delivery delivery;
    delivery.service = service;
    delivery.number = number;
    delivery.first = context.arena.copy(std::vector<std::uint8_t>(bytes));
    early.add(delivery);
  }

  test::SilentSink sink;
  Context context;
  EarlyMessages early;
};

TEST_F(EarlyMessagesOf, ComeOutInTheirOrder) {
  add(1, Service::reliable, 10);
  add(2, Service::unreliable, 20);
  add(3, Service::fifo, 30);
  EXPECT_EQ(early.bytes(), 60u);
  EXPECT_EQ(early.take_first().number, 1u);
  EXPECT_EQ(early.take_first().number, 2u);
  EXPECT_EQ(early.bytes(), 30u);
  EXPECT_EQ(early.take_first().number, 3u);
  EXPECT_TRUE(early.empty());
  EXPECT_EQ(early.bytes(), 0u);
}

TEST_F(EarlyMessagesOf, DropUnreliableOnesWhereMuchWaits) {
  add(1, Service::reliable, EarlyMessages::kBytesMax - 1);
  EXPECT_FALSE(early.is_full());
  add(2, Service::unreliable, 1);
  EXPECT_TRUE(early.is_full());
  add(3, Service::unreliable, 1);
  add(4, Service::reliable, 1);
  EXPECT_EQ(context.counters.value(Counter::data_dropped_unreliable), 1u);
  for (const std::uint64_t number : {1u, 2u, 4u}) EXPECT_EQ(early.take_first().number, number);
  EXPECT_TRUE(early.empty());
  EXPECT_FALSE(early.is_full());
}

TEST_F(EarlyMessagesOf, AreForgottenWithTheirView) {
  add(1, Service::reliable, EarlyMessages::kBytesMax);
  early.clear();
  EXPECT_TRUE(early.empty());
  EXPECT_EQ(early.bytes(), 0u);
}

}  // namespace
}  // namespace spindled
