#include "daemon/group/partial_messages.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/group/entering_messages.h"
#include "libclient/common/bytes.h"

namespace spindled {
namespace {

using spindle::as_bytes;

std::string text_of(const std::optional<std::vector<std::uint8_t>>& payload) {
  return payload ? std::string(payload->begin(), payload->end()) : "none";
}

TEST(PartialMessages, PutsPartsTogetherByOriginAndNumber) {
  PartialMessages messages;
  EXPECT_TRUE(messages.add(0, {1, 9, as_bytes("ab")}));
  EXPECT_TRUE(messages.add(1, {1, 9, as_bytes("other")}));
  EXPECT_TRUE(messages.add(0, {2, 9, as_bytes("next")}));
  EXPECT_TRUE(messages.add(0, {1, 9, as_bytes("cd")}));
  EXPECT_EQ(messages.bytes(), 13u);
  EXPECT_EQ(text_of(messages.take(0, 1)), "abcd");
  EXPECT_EQ(text_of(messages.take(0, 1)), "none");
  EXPECT_EQ(text_of(messages.take(1, 1)), "other");
  EXPECT_EQ(messages.bytes(), 4u);
  messages.clear();
  EXPECT_EQ(messages.bytes(), 0u);
  EXPECT_EQ(text_of(messages.take(0, 2)), "none");
}

TEST(PartialMessages, ForgetsWhatNeverComes) {
  PartialMessages messages;
  EXPECT_TRUE(messages.add(0, {1, 9, as_bytes("ab")}));
  EXPECT_TRUE(messages.add(0, {1, 0, {}}));
  EXPECT_EQ(messages.size(), 0u);
  EXPECT_EQ(messages.bytes(), 0u);
  EXPECT_FALSE(messages.add(0, {1, 0, {}})) << "there is nothing to forget";
}

TEST(PartialMessages, RefusesWhatMakesNoSense) {
  PartialMessages messages;
  EXPECT_TRUE(messages.add(0, {1, 5, as_bytes("abc")}));
  EXPECT_FALSE(messages.add(0, {1, 6, as_bytes("d")})) << "another size than before";
  EXPECT_FALSE(messages.add(0, {1, 5, as_bytes("def")})) << "more than there is";
  EXPECT_EQ(messages.bytes(), 3u);
}

TEST(PartialMessages, LetsAnOriginHaveNoMoreThanItMay) {
  PartialMessages messages;
  constexpr std::uint32_t kLargest = 16u << 20;
  std::uint64_t number = 0;
  for (std::size_t total = 0; total < EnteringMessages::kBytesMax; total += kLargest) {
    EXPECT_TRUE(messages.add(0, {++number, kLargest, as_bytes("a")}));
  }
  EXPECT_FALSE(messages.add(0, {++number, 2, as_bytes("a")}));
  EXPECT_TRUE(messages.add(1, {1, 2, as_bytes("a")})) << "others are not held to it";
  messages.take(0, 1);
  EXPECT_TRUE(messages.add(0, {++number, 2, as_bytes("a")}));
}

TEST(EnteringMessages, HaveAQuarterOfTheLeastMemoryTogether) {
  constexpr std::size_t kMiB = 1u << 20;
  EXPECT_EQ(EnteringMessages::room(1200 * kMiB, 3), 100 * kMiB);
  EXPECT_EQ(EnteringMessages::room(100'000 * kMiB, 3), EnteringMessages::kBytesMax);
  EXPECT_EQ(EnteringMessages::room(100 * kMiB, 0), 25 * kMiB) << "alone";
}

TEST(EnteringMessages, CountWhatTheyHaveTogether) {
  EnteringMessages entering;
  constexpr std::uint32_t kHalf = 16u << 20;
  const std::uint64_t first = entering.begin({1, MemberSet::of(0), kHalf, 0});
  const std::uint64_t second = entering.begin({2, MemberSet::of(0), kHalf, 0});
  EXPECT_NE(first, second);
  EXPECT_EQ(entering.bytes(), 2 * kHalf);
  entering.end(first);
  EXPECT_EQ(entering.bytes(), kHalf);
  EXPECT_EQ(entering.find(first), nullptr);
  ASSERT_NE(entering.find(second), nullptr);
  EXPECT_EQ(entering.find(second)->session, 2u);
  entering.clear();
  EXPECT_EQ(entering.find(second), nullptr);
  EXPECT_GT(entering.begin({1, MemberSet::of(0), kHalf, 0}), second) << "numbers are given once";
}

TEST(EnteringMessages, EndWithTheirSession) {
  EnteringMessages entering;
  const std::uint64_t mine = entering.begin({1, MemberSet::of(0), 100, 40});
  const std::uint64_t other = entering.begin({2, MemberSet::of(0), 100, 0});
  std::vector<std::uint64_t> ended;
  entering.end_all_of(1, [&](std::uint64_t number, const EnteringMessages::Entering& each) {
    EXPECT_EQ(each.ahead, 40u);
    ended.push_back(number);
  });
  EXPECT_EQ(ended, std::vector<std::uint64_t>{mine});
  EXPECT_EQ(entering.find(mine), nullptr);
  EXPECT_NE(entering.find(other), nullptr);
}

}  // namespace
}  // namespace spindled
