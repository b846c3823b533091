#include "daemon/session/destination_table.h"

#include <gtest/gtest.h>

#include <string>

namespace spindled {
namespace {

using spindle::protocol::Define;
using spindle::protocol::kDefinedBytesMax;
using spindle::protocol::kDefinedNameBytes;
using spindle::protocol::kGroupsPerMessageMax;
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

}  // namespace
}  // namespace spindled
