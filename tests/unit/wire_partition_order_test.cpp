#include "daemon/wire/partition_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "daemon/wire/control.h"

namespace spindled {
namespace {

PartitionOrder good_order() { return {{1, {"alpha", 7}}, {{"alpha", "beta"}, {"gamma"}}, 60s}; }

std::string fault_with(const std::function<void(PartitionOrder&)>& change) {
  PartitionOrder order = good_order();
  change(order);
  // The decoder says the same of it.
  EXPECT_EQ(decode_control(encode_control(order)).has_value(), find_fault(order).empty());
  return std::string(find_fault(order));
}

std::string long_name(std::size_t number) { return fmt::format("{:064}", number); }

TEST(PartitionOrder, AnOrderAndAHealAreValid) {
  EXPECT_EQ(find_fault(good_order()), "");
  EXPECT_EQ(find_fault({{2, {"beta", 1}}, {}, 0s}), "");
}

TEST(PartitionOrder, EveryLimitIsNamed) {
  EXPECT_EQ(fault_with([](auto& order) { order.id.number = 0; }), "a partition's number is out of range");
  EXPECT_EQ(fault_with([](auto& order) { order.id.number = kPartitionNumberMax + 1; }),
            "a partition's number is out of range");
  EXPECT_EQ(fault_with([](auto& order) { order.sides.clear(); }), "no sides are to last for some time");
  EXPECT_EQ(fault_with([](auto& order) { order.left = 0s; }), "a partition lasts no time, or more than an hour");
  EXPECT_EQ(fault_with([](auto& order) { order.left = kPartitionTimeMax + 1ms; }),
            "a partition lasts no time, or more than an hour");
  EXPECT_EQ(fault_with([](auto& order) { order.sides[1].clear(); }), "a side of a partition is empty");
  EXPECT_EQ(fault_with([](auto& order) { order.sides[1][0] = "a#b"; }), "a daemon's name is not valid");
  EXPECT_EQ(fault_with([](auto& order) { order.sides[1][0] = "alpha"; }), "a partition names a daemon twice");
  EXPECT_EQ(fault_with([](auto& order) {
              order.sides.clear();
              for (std::size_t i = 0; i <= kPartitionSidesMax; ++i) order.sides.push_back({fmt::format("d{}", i)});
            }),
            "a partition has too many sides");
  EXPECT_EQ(fault_with([](auto& order) {
              for (std::size_t i = 0; i < kPartitionNamesBytesMax / 64; ++i) order.sides[1].push_back(long_name(i));
            }),
            "a partition names too many daemons");
}

TEST(PartitionOrder, TheLargestFitsIntoItsBound) {
  PartitionOrder order{{kPartitionNumberMax, {long_name(0), ~std::uint64_t{0}}}, {}, kPartitionTimeMax};
  const std::size_t names = kPartitionNamesBytesMax / (64 + kPartitionNameOverhead);
  for (std::size_t i = 0; i < names; ++i) {
    if (i < kPartitionSidesMax) order.sides.emplace_back();
    order.sides[i % kPartitionSidesMax].push_back(long_name(i));
  }
  ASSERT_EQ(find_fault(order), "");
  EXPECT_LE(encode_control(order).size(), kPartitionBytesMax);

  PartitionOrder many{{1, {"a", 1}}, {{}}, 1s};
  for (std::size_t i = 0; i < kPartitionDaemonsMax; ++i) many.sides[0].push_back(fmt::format("{:x}", i));
  ASSERT_EQ(find_fault(many), "");
  EXPECT_LE(encode_control(many).size(), kPartitionBytesMax);
}

TEST(PartitionOrder, ATimeThatIsNotOfWholeMillisecondsIsRoundedUp) {
  PartitionOrder order = good_order();
  order.left = 1ns;
  EXPECT_EQ(std::get<PartitionOrder>(*decode_control(encode_control(order))).left, 1ms);
}

TEST(PartitionOrder, IdsAreOrderedByNumberThenByAuthor) {
  const PartitionId one{1, {"alpha", 5}};
  EXPECT_LT(one, (PartitionId{2, {"alpha", 1}}));
  EXPECT_LT(one, (PartitionId{1, {"beta", 1}}));
  EXPECT_LT(one, (PartitionId{1, {"alpha", 6}}));
  EXPECT_EQ(to_string(one), "1@alpha");
}

TEST(PartitionOrder, SidesReadAsTheyAreWritten) {
  EXPECT_EQ(to_string(good_order().sides), "alpha,beta / gamma");
  EXPECT_EQ(to_string(good_order().sides, 3), "alpha...");
}

}  // namespace
}  // namespace spindled
