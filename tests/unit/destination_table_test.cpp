#include "daemon/session/destination_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "daemon/base/random.h"

namespace spindled {
namespace {

using spindle::kGroupsPerMessageMax;
using spindle::protocol::Define;
using spindle::protocol::kDefinedBytesMax;
using spindle::protocol::kDefinedNameBytes;
using spindle::protocol::kHandlesMax;

class DestinationTableTest : public testing::Test {
 protected:
  /// False where it was refused.
  bool define(std::uint32_t handle, std::vector<std::string_view> names) {
    const std::optional<Error> error = table_.define({handle, std::move(names)});
    EXPECT_EQ(error.value_or(Error{Errc::limit_exceeded, {}}).code, Errc::limit_exceeded);
    return !error;
  }
  /// Defines sets under the first handles that take all that there is. The next handle.
  std::uint32_t fill() {
    std::uint32_t handle = 0;
    std::size_t names = kDefinedBytesMax / kCounted;
    while (names != 0) {
      const std::size_t count = std::min(names, kGroupsPerMessageMax);
      EXPECT_TRUE(define(handle++, std::vector<std::string_view>(count, name_)));
      names -= count;
    }
    EXPECT_EQ(table_.bytes(), kDefinedBytesMax);
    return handle;
  }

  /// The numbers of the flows of all handles.
  std::set<std::uint32_t> flows() const {
    std::set<std::uint32_t> numbers;
    for (std::uint32_t handle = 0; handle < kHandlesMax; ++handle) {
      if (table_.is_defined(handle)) numbers.insert(table_[handle].flow->number);
    }
    return numbers;
  }

  static constexpr std::size_t kCounted = 128;
  static_assert(kDefinedBytesMax % kCounted == 0);

  /// Counts kCounted.
  const std::string name_ = std::string(kCounted - kDefinedNameBytes, 'x');
  DestinationTable table_;
};

TEST_F(DestinationTableTest, AHandleStandsForWhatItWasDefinedAsLast) {
  EXPECT_FALSE(table_.is_defined(0));
  EXPECT_TRUE(define(7, {"a", "b"}));
  EXPECT_FALSE(table_.is_defined(0));
  ASSERT_TRUE(table_.is_defined(7));
  EXPECT_EQ(table_[7].to.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(define(7, {"c"}));
  EXPECT_EQ(table_[7].to.names, std::vector<std::string>{"c"});
  EXPECT_TRUE(define(7, {}));
  EXPECT_FALSE(table_.is_defined(7));
  EXPECT_FALSE(table_.is_defined(kHandlesMax - 1));
}

TEST_F(DestinationTableTest, SetsTakeNoMoreThanTheLimit) {
  const std::uint32_t next = fill();
  EXPECT_FALSE(define(next, {"a"}));
  EXPECT_FALSE(table_.is_defined(next));
  EXPECT_EQ(table_.bytes(), kDefinedBytesMax);
}

TEST_F(DestinationTableTest, ANameCountsAsOftenAsItIsThere) {
  EXPECT_TRUE(define(0, {"a", "a", "a"}));
  EXPECT_EQ(table_.bytes(), 3 * (1 + kDefinedNameBytes));
}

TEST_F(DestinationTableTest, AnotherMeaningGivesBackWhatTheFormerOneTook) {
  const std::uint32_t next = fill();
  EXPECT_TRUE(define(0, std::vector<std::string_view>(kGroupsPerMessageMax, name_))) << "the same again";
  EXPECT_EQ(table_.bytes(), kDefinedBytesMax);
  EXPECT_TRUE(define(0, std::vector<std::string_view>(kGroupsPerMessageMax - 1, name_)));
  EXPECT_FALSE(define(next, {name_, "a"})) << "too much by one name";
  EXPECT_TRUE(define(next, {name_}));
  EXPECT_FALSE(define(0, std::vector<std::string_view>(kGroupsPerMessageMax, name_)));
  EXPECT_EQ(table_[0].to.names.size(), kGroupsPerMessageMax - 1) << "what is refused changes nothing";
}

TEST_F(DestinationTableTest, NoMeaningGivesBackAll) {
  const std::uint32_t next = fill();
  EXPECT_TRUE(define(0, {}));
  EXPECT_EQ(table_.bytes(), kDefinedBytesMax - kGroupsPerMessageMax * kCounted);
  EXPECT_TRUE(define(0, {})) << "of one that has none";
  EXPECT_TRUE(define(next, std::vector<std::string_view>(kGroupsPerMessageMax, name_)));
  EXPECT_FALSE(define(0, {"a"}));
}

TEST_F(DestinationTableTest, OneSetIsOneFlowHoweverItIsNamed) {
  EXPECT_TRUE(define(0, {"a", "b"}));
  EXPECT_TRUE(define(1, {"b", "a"}));
  EXPECT_TRUE(define(2, {"a", "a", "b", "a"}));
  EXPECT_TRUE(define(3, {"ab"}));
  EXPECT_TRUE(define(4, {"a"}));
  EXPECT_TRUE(define(5, {"a", "a"}));
  EXPECT_EQ(table_[1].flow, table_[0].flow);
  EXPECT_EQ(table_[2].flow, table_[0].flow);
  EXPECT_EQ(table_[5].flow, table_[4].flow);
  EXPECT_EQ(flows(), (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(table_[1].to.names, (std::vector<std::string>{"b", "a"})) << "receivers see what the sender wrote";
  EXPECT_EQ(table_[2].to.names.size(), 4u);
}

TEST_F(DestinationTableTest, AFlowStaysWithItsSetWhileAHandleStandsForIt) {
  EXPECT_TRUE(define(0, {"a", "b"}));
  EXPECT_TRUE(define(1, {"b", "a"}));
  const SetFlow* const shared = table_[0].flow;
  EXPECT_TRUE(define(0, {"c"}));
  EXPECT_NE(table_[0].flow, shared);
  EXPECT_EQ(table_[1].flow, shared);
  EXPECT_TRUE(define(2, {"a", "b"}));
  EXPECT_EQ(table_[2].flow, shared);
  EXPECT_TRUE(define(1, {}));
  EXPECT_EQ(table_[2].flow, shared);
  EXPECT_EQ(flows(), (std::set<std::uint32_t>{0, 1}));
}

TEST_F(DestinationTableTest, WhoDefinesAnewGetsNoNewFlow) {
  EXPECT_TRUE(define(0, {"a"}));
  table_[0].flow->flow.pass(Time{}, 5);
  const SetFlow* const flow = table_[0].flow;
  EXPECT_TRUE(define(0, {"b"}));
  EXPECT_EQ(table_[0].flow, flow) << "with its budget and its salary";
  EXPECT_TRUE(define(0, {"b"}));
  EXPECT_EQ(table_[0].flow, flow);
  EXPECT_TRUE(define(0, {}));
  EXPECT_TRUE(define(7, {"c"}));
  EXPECT_EQ(table_[7].flow, flow);
  EXPECT_EQ(flow->flow.packets(), 5u);
  // Nor does who has two numbers for each set while it does so.
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i);
    EXPECT_TRUE(define(0, {name}));
    EXPECT_TRUE(define(7, {name}));
    EXPECT_LE(table_[7].flow->number, 1u) << "two sets at one time";
  }
}

TEST_F(DestinationTableTest, EachFlowIsVisitedOnce) {
  EXPECT_TRUE(define(0, {"gone"}));
  EXPECT_TRUE(define(1, {"a", "b"}));
  EXPECT_TRUE(define(2, {"b", "a"}));
  EXPECT_TRUE(define(3, {"c"}));
  EXPECT_TRUE(define(0, {}));
  table_[2].to.table_version = 1;  // resolved, the first one never was
  std::vector<std::pair<std::vector<std::string>, const Flow*>> seen;
  table_.for_each_flow([&](const DestinationSet& to, const Flow& flow) { seen.emplace_back(to.names, &flow); });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].first, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(seen[0].second, &table_[1].flow->flow);
  EXPECT_EQ(seen[1].first, std::vector<std::string>{"c"});
  EXPECT_EQ(seen[1].second, &table_[3].flow->flow);
}

TEST_F(DestinationTableTest, FlowsAreThoseOfAModel) {
  Random random(1);
  const std::vector<std::string> names = {"a", "b", "c", "ab", std::string(255, 'a')};
  std::map<std::uint32_t, std::set<std::string_view>> model;
  std::size_t most = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto handle = static_cast<std::uint32_t>(random.below(12));
    std::vector<std::string_view> groups(random.below(4));
    for (std::string_view& group : groups) group = names[random.below(names.size())];
    EXPECT_TRUE(define(handle, groups));
    model[handle] = {groups.begin(), groups.end()};
    std::map<std::set<std::string_view>, const SetFlow*> flows;
    std::set<const SetFlow*> different;
    for (const auto& [defined, set] : model) {
      ASSERT_EQ(table_.is_defined(defined), !set.empty());
      if (set.empty()) continue;
      const SetFlow* const flow = flows.try_emplace(set, table_[defined].flow).first->second;
      ASSERT_EQ(table_[defined].flow, flow);
      different.insert(flow);
    }
    ASSERT_EQ(different.size(), flows.size());
    most = std::max(most, flows.size());
    for (const SetFlow* flow : different) ASSERT_LT(flow->number, most);
  }
}

}  // namespace
}  // namespace spindled
