#include "daemon/order/retention.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "daemon/base/random.h"

namespace spindled {
namespace {

using spindle::as_bytes;
using spindle::as_text;

/// Bodies of four streams, which come in slabs with what nobody keeps.
class RetentionTest : public testing::Test {
 protected:
  RetentionTest() { retention_.restart(streams_.size()); }

  void come(MemberIndex origin, std::string body) {
    retention_.retain(streams_, origin, ++numbers_[origin], arena_.copy(as_bytes(body)));
    kept_[origin].push_back(std::move(body));
  }
  void come_between(std::size_t bytes) { arena_.copy(as_bytes(std::string(bytes, '-'))); }
  void fill_slab() { come_between(SlabPool::kLargeBytes); }
  void release(MemberIndex origin, std::size_t count) {
    streams_[origin].release(numbers_[origin] - kept_[origin].size() + count);
    kept_[origin].erase(kept_[origin].begin(), kept_[origin].begin() + static_cast<std::ptrdiff_t>(count));
  }
  void expect_whole() const {
    for (std::size_t origin = 0; origin < streams_.size(); ++origin) {
      const Ring<RetainedBody>& retained = streams_[origin].retained();
      ASSERT_EQ(retained.size(), kept_[origin].size());
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < retained.size(); ++i) {
        ASSERT_EQ(as_text(retained[i].head.view()), kept_[origin][i]);
        bytes += retained[i].size();
      }
      EXPECT_EQ(streams_[origin].retained_bytes(), bytes);
    }
  }
  const std::uint8_t* place_of_last(MemberIndex origin) const { return streams_[origin].retained().back().head.data(); }

  SlabPool pool_;
  SlabWriter arena_{pool_};
  Retention retention_{pool_};
  std::vector<IncomingStream> streams_{4};
  std::vector<std::uint64_t> numbers_ = std::vector<std::uint64_t>(4);
  std::vector<std::deque<std::string>> kept_{4};
};

/// Of the latest body, and the one that is read into.
constexpr std::size_t kLatestBytes = 2 * SlabPool::kLargeBytes;

TEST_F(RetentionTest, ABodyInASlabKeepsNoSlab) {
  for (int i = 0; i < 200; ++i) {
    come(1, "body " + std::to_string(i));
    fill_slab();
  }
  EXPECT_LE(pool_.bytes_in_use(), kLatestBytes + SlabPool::kSmallBytes);
  expect_whole();
}

TEST_F(RetentionTest, ABodyInASlabOfAStreamThatIsReleasedKeepsNoSlab) {
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < 100; ++k) come(0, std::string(1000, 'm'));
    come(3, "body " + std::to_string(i));
    fill_slab();
  }
  release(0, kept_[0].size());
  EXPECT_LE(pool_.bytes_in_use(), kLatestBytes + 2 * SlabPool::kSmallBytes);
  expect_whole();
}

TEST_F(RetentionTest, WhatTakesItsPartOfASlabStaysWhereItIs) {
  const std::size_t part = SlabPool::kLargeBytes / Retention::kPart;
  come(0, std::string(part, 'x'));
  come(1, std::string(part - 1, 'y'));
  const std::uint8_t* const large = place_of_last(0);
  const std::uint8_t* const small = place_of_last(1);
  fill_slab();
  come(2, "z");
  EXPECT_EQ(place_of_last(0), large);
  EXPECT_NE(place_of_last(1), small);
  expect_whole();
}

TEST_F(RetentionTest, ANewViewBeginsWithNothing) {
  come(3, "of the former view");
  streams_.clear();
  streams_.resize(2);
  kept_ = {{}, {}};
  numbers_ = {0, 0};
  retention_.restart(2);
  fill_slab();
  come(1, "of this one");
  expect_whole();
}

TEST_F(RetentionTest, AllIsKeptInAMultipleOfItsBytes) {
  Random random(31);
  for (int i = 0; i < 20'000; ++i) {
    const auto origin = static_cast<MemberIndex>(random.below(random.chance(0.9) ? 2 : 4));
    const std::size_t size = random.between(1, random.chance(0.8) ? 100 : 20'000);
    come(origin, std::string(size, static_cast<char>('a' + random.below(26))));
    if (random.chance(0.3)) come_between(random.below(100'000));
    if (random.chance(0.02)) release(origin, random.between(0, kept_[origin].size()));
    if (i % 100 != 0) continue;
    expect_whole();
    std::size_t most = kLatestBytes;
    for (const IncomingStream& stream : streams_) {
      most += Retention::kPart * stream.retained_bytes() + SlabPool::kLargeBytes + SlabPool::kSmallBytes;
    }
    ASSERT_LE(pool_.bytes_in_use(), most);
  }
}

}  // namespace
}  // namespace spindled
