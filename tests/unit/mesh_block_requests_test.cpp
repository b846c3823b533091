// Which blocks a member of a mesh asks of whom.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "daemon/bulk/mesh/block_requests.h"

namespace spindled::mesh {
namespace {

using spindle::bulk::BlockSet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Time kStart{1h};
constexpr MemberIndex kTwo[] = {1, 2}, kThree[] = {1, 2, 3}, kFour[] = {1, 2, 3, 4};

class Requests : public testing::Test {
 protected:
  static constexpr std::uint32_t kBlocks = 100;

  /// It has had these for long enough.
  void has(MemberIndex sender, std::uint32_t first, std::uint32_t end) {
    requests_.holding_received(now_, sender, {{{first, end}}, {}});
  }
  /// Those that are told something then.
  std::vector<MemberIndex> renew() {
    requests_.renew(now_, lacked_);
    const std::vector<MemberIndex> told = requests_.untold(now_, false);
    for (const MemberIndex member : told) requests_.note_told(now_, member);
    return told;
  }
  void pass(Duration time) { now_ += time; }
  /// It gives the first block that it is asked for.
  std::uint32_t give(MemberIndex sender) {
    const std::uint32_t block = requests_.asked_of(sender).front();
    requests_.symbol_received(now_, sender, block);
    lacked_.remove(block);
    return block;
  }

  BlockRequests requests_{Random(1)};
  BlockSet lacked_ = BlockSet::of_first(kBlocks);
  Time now_ = kStart;
};

TEST_F(Requests, AreForWhatASenderHasHadForAWhile) {
  has(1, 0, kBlocks);
  EXPECT_THAT(renew(), IsEmpty());
  pass(BlockRequests::kTreeDelay - 1ms);
  EXPECT_THAT(renew(), IsEmpty());
  pass(1ms);
  EXPECT_THAT(renew(), ElementsAre(1));
  EXPECT_THAT(requests_.asked_of(1), SizeIs(2));
  EXPECT_FALSE(requests_.is_idle());
}

TEST_F(Requests, WhatASenderHasSaidBeforeHoldsWhileItsNewsAreYoung) {
  has(1, 0, 50);
  pass(BlockRequests::kTreeDelay);
  has(1, 0, 60);
  renew();
  for (const std::uint32_t block : requests_.asked_of(1)) EXPECT_LT(block, 50u);
}

TEST_F(Requests, SendersAreAskedNowAndThenWhatTheyHave) {
  has(1, 0, 1);
  renew();
  pass(BlockRequests::kHoldingAge - 1ms);
  EXPECT_THAT(requests_.untold(now_, true), IsEmpty());
  pass(1ms);
  EXPECT_THAT(requests_.untold(now_, true), ElementsAre(1));
  EXPECT_THAT(requests_.untold(now_, false), IsEmpty()) << "nothing is lacking that has gone by";
  requests_.note_told(now_, 1);
  EXPECT_THAT(requests_.untold(now_, true), IsEmpty());
}

TEST_F(Requests, OfFewBlocksThereAreNone) {
  has(1, 0, BlockRequests::kLeast - 1);
  pass(BlockRequests::kTreeDelay);
  EXPECT_THAT(renew(), IsEmpty());
  has(2, BlockRequests::kLeast - 1, BlockRequests::kLeast);
  pass(BlockRequests::kTreeDelay);
  EXPECT_THAT(renew(), ElementsAre(1, 2)) << "all that senders have count";
}

TEST_F(Requests, BeginInTheUpperHalfAndGoDown) {
  has(1, 0, kBlocks);
  pass(BlockRequests::kTreeDelay);
  renew();
  std::uint32_t last = requests_.asked_of(1).front();
  EXPECT_GE(last, kBlocks / 2);
  for (int i = 0; i < 20; ++i) {
    pass(100ms);
    EXPECT_EQ(give(1), last);
    renew();
    ASSERT_THAT(requests_.asked_of(1), testing::Not(IsEmpty()));
    EXPECT_EQ(requests_.asked_of(1).front(), last - 1);
    --last;
  }
}

TEST_F(Requests, OfOneBlockGoToOneSender) {
  std::set<std::uint32_t> asked;
  std::size_t count = 0;
  for (const MemberIndex sender : kThree) has(sender, 0, kBlocks);
  pass(BlockRequests::kTreeDelay);
  for (int i = 0; i < 30; ++i) {
    renew();
    asked.clear();
    count = 0;
    for (const MemberIndex sender : kThree) {
      const auto blocks = requests_.asked_of(sender);
      asked.insert(blocks.begin(), blocks.end());
      count += blocks.size();
    }
    EXPECT_EQ(asked.size(), count);
    EXPECT_EQ(requests_.asked(now_).count(), count);
    pass(20ms);
    give(static_cast<MemberIndex>(1 + i % 3));
  }
}

TEST_F(Requests, AreAsManyAsASenderGivesInAWhile) {
  for (const MemberIndex sender : kTwo) has(sender, 0, kBlocks);
  pass(BlockRequests::kTreeDelay);
  renew();
  for (int i = 0; i < 8; ++i) {
    pass(20ms);
    give(1);
    if (i == 7) {
      requests_.symbol_received(now_, 2, requests_.asked_of(2).front());
    }
    renew();
  }
  EXPECT_THAT(requests_.asked_of(1), SizeIs(BlockRequests::kOfSenderMax));
  pass(2s);
  give(2);
  renew();
  EXPECT_THAT(requests_.asked_of(2), SizeIs(1)) << "who takes two seconds for a block is asked for one at a time";
}

TEST_F(Requests, AreGivenUpWhereNothingComes) {
  has(1, 0, kBlocks);
  pass(BlockRequests::kTreeDelay);
  renew();
  const std::uint32_t block = requests_.asked_of(1).front();
  pass(BlockRequests::kPatience - 1ms);
  requests_.symbol_received(now_, 1, block);
  renew();
  EXPECT_FALSE(requests_.is_idle()) << "it has given something";
  pass(BlockRequests::kPatience);
  EXPECT_THAT(renew(), ElementsAre(1));
  EXPECT_TRUE(requests_.is_idle());
  EXPECT_TRUE(requests_.asked(now_).empty());
  pass(BlockRequests::kPatience);
  EXPECT_THAT(renew(), ElementsAre(1)) << "it is tried again";
}

TEST_F(Requests, OfWhoSendsNoMoreGoToOthers) {
  has(1, 0, BlockRequests::kLeast);
  pass(BlockRequests::kTreeDelay);
  renew();
  EXPECT_FALSE(requests_.is_idle());
  EXPECT_TRUE(requests_.forget(1));
  EXPECT_FALSE(requests_.forget(1));
  EXPECT_TRUE(requests_.is_idle());
  has(2, 0, BlockRequests::kLeast);
  pass(BlockRequests::kTreeDelay);
  EXPECT_THAT(renew(), ElementsAre(2));
}

TEST_F(Requests, OthersMayGiveAsWellWhatIsAskedForLongestInTheEnd) {
  lacked_ = BlockSet::of_first(8);
  for (const MemberIndex sender : kFour) has(sender, 0, kBlocks);
  pass(BlockRequests::kTreeDelay);
  renew();
  EXPECT_EQ(requests_.asked(now_).count(), 8u);
  pass(BlockRequests::kEnd);
  for (const MemberIndex sender : kFour) requests_.symbol_received(now_, sender, requests_.asked_of(sender).front());
  renew();
  EXPECT_TRUE(requests_.asked(now_).empty());
  EXPECT_FALSE(requests_.is_idle()) << "they are still asked";
}

TEST_F(Requests, WhatAStrangerSaysIsBounded) {
  requests_.holding_received(now_, 1, {{{5, 3}, {0, UINT32_MAX}}, {}});
  requests_.symbol_received(now_, 9, 1);
  pass(BlockRequests::kTreeDelay);
  renew();
  for (const std::uint32_t block : requests_.asked_of(1)) EXPECT_LT(block, kBlocks);
}

}  // namespace
}  // namespace spindled::mesh
