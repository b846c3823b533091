// The index of a channel at a daemon: what is passed on, who is asked, and what wrong ones cost.
#include "daemon/bulk/relay/channel_index.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/sha256.h"

namespace spindled {
namespace {

using spindle::bulk::kBlockHashBytes;
using spindle::bulk::kHashesPerIndexMax;
using Bytes = std::vector<std::uint8_t>;

constexpr ConnectionId kParent{1}, kOther{2}, kChild{3}, kHolder{4}, kLiar{5};
constexpr std::uint32_t kBlocks = 5;

class ChannelIndexes : public testing::Test, public RelayOutput {
 protected:
  // RelayOutput
  void may_send(ConnectionId to) override { told_.push_back(to); }
  void send_need(ConnectionId, std::uint8_t, const spindle::bulk::Need&) override {}
  void send_grant(ConnectionId, std::uint8_t, std::uint64_t) override {}
  void send_release(ConnectionId, std::uint8_t) override {}
  void ask_index(ConnectionId to) override { asked_.push_back(to); }

  static Bytes hashes_of(std::uint32_t blocks, std::uint8_t seed) {
    Bytes hashes(blocks * kBlockHashBytes);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = static_cast<std::uint8_t>(seed + i / kBlockHashBytes);
    return hashes;
  }
  void give(ConnectionId from, const Bytes& hashes, std::uint32_t first = 0, std::uint32_t end = UINT32_MAX) {
    const std::size_t from_byte = first * kBlockHashBytes, to_byte = std::min(hashes.size(), end * kBlockHashBytes);
    index_.received(now_, from, first, ByteView(hashes).subspan(from_byte, to_byte - from_byte));
  }
  void seal() { index_.seal(now_, kBlocks, sha256_.hash(right_)); }
  /// All that it is given now, which continues what it was given.
  Bytes take(ConnectionId to) {
    Bytes taken;
    for (;;) {
      const ChannelIndex::Part part = index_.next(to);
      if (part.hashes.empty()) return taken;
      if (part.first == 0) taken.clear();
      taken.insert(taken.end(), part.hashes.begin(), part.hashes.end());
    }
  }
  void pass(Duration time) {
    now_ += time;
    index_.handle_time(now_);
  }
  /// Those that were asked since the last call.
  std::vector<ConnectionId> asked() { return std::exchange(asked_, {}); }

  const Bytes right_ = hashes_of(kBlocks, 1), wrong_ = hashes_of(kBlocks, 2);
  spindle::test::Sha256 sha256_;
  ChannelIndex index_{*this, sha256_};
  Time now_{1h};
  std::vector<ConnectionId> told_, asked_;
};

TEST_F(ChannelIndexes, ArePassedOnAsTheyCome) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  give(kParent, right_, 0, 2);
  EXPECT_EQ(told_, std::vector{kChild});
  EXPECT_EQ(take(kChild), Bytes(right_.begin(), right_.begin() + 2 * kBlockHashBytes));
  give(kParent, right_, 3);
  EXPECT_EQ(index_.count(), 2U) << "it leaves one out";
  give(kParent, right_, 1);
  EXPECT_EQ(take(kChild), Bytes(right_.begin() + 2 * kBlockHashBytes, right_.end()));
  index_.add_child(kOther);
  EXPECT_EQ(take(kOther), right_) << "who comes later gets it from the first block on";
  EXPECT_TRUE(take(kParent).empty());
  seal();
  EXPECT_TRUE(index_.is_right());
}

// A source that lies about a stream until it is over.
TEST_F(ChannelIndexes, OfBlocksThatTheContentHasNotAreGivenToNobodyOnceThatIsKnown) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  give(kParent, hashes_of(2 * kBlocks, 1));
  EXPECT_EQ(take(kChild).size(), 2 * kBlocks * kBlockHashBytes);
  seal();
  ASSERT_TRUE(index_.is_right());
  EXPECT_TRUE(index_.next(kChild).hashes.empty());
  index_.asked_for(kChild);
  EXPECT_EQ(take(kChild), right_);
}

TEST_F(ChannelIndexes, OfAnEmptyContentAreNone) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  give(kParent, right_);
  EXPECT_EQ(take(kChild), right_);
  index_.seal(now_, 0, sha256_.hash({}));
  ASSERT_TRUE(index_.is_right());
  EXPECT_TRUE(index_.next(kChild).hashes.empty());
}

TEST_F(ChannelIndexes, OfStrangersAndChildrenAreNotTaken) {
  index_.add_child(kChild);
  give(kChild, wrong_);
  give(kLiar, wrong_);
  EXPECT_EQ(index_.count(), 0U);
  seal();
  give(kChild, right_);
  EXPECT_FALSE(index_.is_right()) << "it was not asked";
}

TEST_F(ChannelIndexes, AreAskedOfWhoKnowsThem) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  index_.add_child(kHolder);
  index_.set_knows(kHolder, true);
  index_.set_knows(kLiar, true);  // it is nobody here
  seal();
  EXPECT_EQ(index_.lacking_since(), now_);
  EXPECT_TRUE(asked().empty()) << "upstreams may be about to give it";
  pass(ChannelIndex::kPatience);
  EXPECT_EQ(asked(), std::vector{kHolder});
  give(kHolder, right_, 0, 3);
  EXPECT_TRUE(take(kChild).empty()) << "it may be wrong";
  give(kHolder, right_, 3);
  EXPECT_TRUE(index_.is_right());
  EXPECT_EQ(index_.lacking_since(), std::nullopt);
  EXPECT_EQ(take(kChild), right_);
  pass(1h);
  EXPECT_TRUE(asked().empty());
}

TEST_F(ChannelIndexes, AreAskedOfTheNextOneWhereNothingComes) {
  index_.add_upstream(kParent);
  index_.add_child(kHolder);
  index_.add_child(kOther);
  index_.set_knows(kHolder, true);
  index_.set_knows(kOther, true);
  seal();
  std::vector<ConnectionId> all;
  for (int i = 0; i < 3; ++i) {
    pass(ChannelIndex::kPatience);
    const auto asked_now = asked();
    all.insert(all.end(), asked_now.begin(), asked_now.end());
  }
  EXPECT_EQ(all, (std::vector{kOther, kHolder, kParent})) << "upstreams last, as they give it when they have it";
  pass(ChannelIndex::kPatience);
  EXPECT_EQ(asked(), std::vector{kOther});
  pass(ChannelIndex::kPatience);
  EXPECT_TRUE(asked().empty()) << "who is asked again has longer";
  index_.remove_child(kOther);
  give(kOther, right_);
  EXPECT_FALSE(index_.is_right()) << "it is gone";
  pass(ChannelIndex::kPatienceMax);
  EXPECT_EQ(asked(), std::vector{kHolder});
  give(kHolder, right_);
  EXPECT_TRUE(index_.is_right());
}

TEST_F(ChannelIndexes, ThatAreWrongAreDroppedAtTheSeal) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  index_.add_child(kHolder);
  index_.set_knows(kHolder, true);
  give(kParent, wrong_);
  EXPECT_EQ(take(kChild), wrong_) << "nobody can know";
  seal();
  EXPECT_EQ(index_.wrong(), 1U);
  EXPECT_EQ(index_.count(), 0U);
  EXPECT_EQ(asked(), std::vector{kHolder}) << "at once";
  give(kHolder, right_);
  EXPECT_EQ(take(kChild), right_) << "from the first block on";
}

TEST_F(ChannelIndexes, OfWhichTheBeginningWasRightGoOn) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  give(kParent, right_, 0, 2);
  EXPECT_FALSE(take(kChild).empty());
  seal();
  give(kParent, right_, 2, 4);
  EXPECT_TRUE(take(kChild).empty()) << "it is not proved yet";
  index_.remove_upstream(kParent);
  index_.add_upstream(kOther);
  give(kOther, right_);
  EXPECT_EQ(take(kChild), Bytes(right_.begin() + 2 * kBlockHashBytes, right_.end()));
}

TEST_F(ChannelIndexes, OfALiarCostItselfOnly) {
  index_.add_child(kChild);
  index_.add_child(kLiar);
  index_.set_knows(kLiar, true);
  seal();
  for (int i = 0; i < 10; ++i) {
    pass(ChannelIndex::kPatienceMax);
    for (const ConnectionId to : asked()) give(to, wrong_);
  }
  EXPECT_EQ(index_.wrong(), ChannelIndex::kWrongMax);
  EXPECT_TRUE(take(kChild).empty());
  pass(ChannelIndex::kPatienceMax);
  EXPECT_TRUE(asked().empty());
  index_.add_child(kHolder);
  index_.set_knows(kHolder, true);
  pass(ChannelIndex::kPatienceMax);
  EXPECT_EQ(asked(), std::vector{kHolder});
  give(kHolder, right_);
  EXPECT_EQ(take(kChild), right_);
}

TEST_F(ChannelIndexes, OfSeveralAreNobodysFault) {
  index_.add_upstream(kLiar);
  index_.add_upstream(kParent);
  seal();
  give(kLiar, wrong_, 0, 1);
  give(kParent, right_);
  EXPECT_EQ(index_.wrong(), 1U);
  EXPECT_EQ(asked(), std::vector{kParent});
  give(kLiar, wrong_, 0, 1);
  give(kParent, right_);
  EXPECT_TRUE(index_.is_right()) << "what was asked for stays apart";
}

TEST_F(ChannelIndexes, ThatComeLittleByLittleAreAskedOfOthers) {
  index_.add_upstream(kLiar);
  index_.add_child(kHolder);
  seal();
  for (std::uint32_t i = 0; i + 1 < kBlocks; ++i) {
    give(kLiar, right_, i, i + 1);
    pass(ChannelIndex::kPatience / 2);
  }
  EXPECT_TRUE(asked().empty());
  index_.set_knows(kHolder, true);
  pass(ChannelIndex::kSlow);
  EXPECT_EQ(asked(), std::vector{kHolder});
}

TEST_F(ChannelIndexes, AreGivenAgainAFewTimes) {
  index_.add_upstream(kParent);
  index_.add_child(kChild);
  seal();
  give(kParent, right_);
  std::uint32_t times = 0;
  for (int i = 0; i < 100; ++i) {
    times += take(kChild) == right_ ? 1 : 0;
    index_.asked_for(kChild);
    index_.asked_for(kLiar);
  }
  EXPECT_EQ(times, 1 + ChannelIndex::kAgainMax);
  EXPECT_TRUE(take(kLiar).empty());
  EXPECT_TRUE(take(kParent).empty());
  index_.asked_for(kParent);
  EXPECT_EQ(told_.back(), kParent);
  EXPECT_EQ(take(kParent), right_) << "a parent that has started anew asks";
}

TEST_F(ChannelIndexes, TakeNoMoreMemoryThanTheContentHasBlocks) {
  index_.add_upstream(kParent);
  index_.add_child(kLiar);
  index_.set_knows(kLiar, true);
  const Bytes many = hashes_of(kHashesPerIndexMax, 9);
  for (std::uint32_t first = 0; first < spindle::bulk::kBlocksMax; first += kHashesPerIndexMax) {
    index_.received(now_, kParent, first, many);
  }
  EXPECT_EQ(index_.count(), spindle::bulk::kBlocksMax);
  give(kParent, many);
  EXPECT_EQ(index_.count(), spindle::bulk::kBlocksMax);
  seal();
  EXPECT_EQ(index_.count(), 0U) << "the first ones are wrong";
  give(kLiar, many);
  give(kParent, many);
  EXPECT_EQ(index_.wrong(), 3U) << "of each so many as there are blocks";
}

TEST_F(ChannelIndexes, OfNothingAreThereAtOnce) {
  index_.seal(now_, 0, sha256_.hash({}));
  EXPECT_TRUE(index_.is_right());
}

}  // namespace
}  // namespace spindled
