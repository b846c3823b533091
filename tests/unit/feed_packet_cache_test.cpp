// The packets that a daemon keeps for repairs.
#include "daemon/feed/packet_cache.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>

#include "daemon/base/random.h"

namespace spindled {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kTo{1, 6};

PacketCache::Packet packet(const Bytes& payload) { return {7, 3, kTo, payload}; }
Bytes bytes_of(spindle::ByteView view) { return {view.begin(), view.end()}; }

TEST(PacketCache, GivesBackWhatWasPutIn) {
  PacketCache cache(4'096);
  PacketCache::Index feed, other;
  const Bytes payload{1, 2, 3};
  cache.put(feed, 5, packet(payload));
  const auto found = cache.find(feed, 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->view, 7);
  EXPECT_EQ(found->flags, 3);
  EXPECT_EQ(bytes_of(found->to), kTo);
  EXPECT_EQ(bytes_of(found->payload), payload);
  EXPECT_FALSE(cache.find(feed, 4));
  EXPECT_FALSE(cache.find(feed, 5 + 64)) << "at the same place of the index";
  EXPECT_FALSE(cache.find(other, 5));
  cache.put(other, 6, packet(payload));
  EXPECT_FALSE(cache.find(other, 5));
}

TEST(PacketCache, SaysSinceWhenItKeepsTheOldest) {
  PacketCache cache(8'192);
  PacketCache::Index feed;
  EXPECT_FALSE(cache.oldest_at());
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Bytes payload(950);
    PacketCache::Packet each = packet(payload);
    each.kept_at = Time{} + (i + 1) * 1s;
    cache.put(feed, i, each);
    std::uint64_t oldest = i;
    while (oldest != 0 && cache.find(feed, oldest - 1)) --oldest;
    EXPECT_EQ(cache.oldest_at(), Time{} + (oldest + 1) * 1s) << i;
  }
  cache.clear();
  EXPECT_FALSE(cache.oldest_at());
}

TEST(PacketCache, KeepsNothingOfBeforeItsSizeChanged) {
  PacketCache cache(4'096);
  PacketCache::Index feed;
  const Bytes payload(700, 1);
  for (std::uint64_t i = 0; i < 20; ++i) cache.put(feed, i, packet(payload));
  for (const std::size_t bytes : {1'024u, 64u << 10, 0u, 8'192u}) {
    ASSERT_TRUE(cache.find(feed, 19) || cache.bytes() == 0);
    cache.resize(bytes);
    EXPECT_EQ(cache.bytes(), 0u);
    EXPECT_FALSE(cache.find(feed, 19));
    EXPECT_FALSE(cache.oldest_at());
    for (std::uint64_t i = 0; i < 20; ++i) cache.put(feed, i, packet(payload));
    EXPECT_EQ(cache.find(feed, 19).has_value(), bytes != 0);
    EXPECT_LE(cache.bytes(), bytes);
  }
}

TEST(PacketCache, StaysWhereItsSizeIsTheSame) {
  PacketCache cache(4'096);
  PacketCache::Index feed;
  cache.put(feed, 1, packet({1}));
  cache.resize(4'096);
  EXPECT_TRUE(cache.find(feed, 1));
}

TEST(PacketCache, KeepsNothingThatIsTooLarge) {
  PacketCache cache(256);
  PacketCache::Index feed;
  cache.put(feed, 1, packet({1}));
  cache.put(feed, 2, packet(Bytes(256)));
  EXPECT_TRUE(cache.find(feed, 1));
  EXPECT_FALSE(cache.find(feed, 2));
  PacketCache none(0);
  none.put(feed, 1, packet({}));
}

TEST(PacketCache, TakesMemoryAsPacketsCome) {
  constexpr std::size_t kMiB = 1u << 20;
  PacketCache cache(4 * kMiB + 100);
  PacketCache::Index feed;
  EXPECT_EQ(cache.bytes(), 0u);
  std::uint64_t sequence = 0;
  const auto put = [&](std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 1'000) cache.put(feed, ++sequence, packet(Bytes(950)));
  };
  put(kMiB / 2);
  EXPECT_EQ(cache.bytes(), kMiB);
  put(kMiB);
  EXPECT_EQ(cache.bytes(), 2 * kMiB);
  EXPECT_TRUE(cache.find(feed, 1));
  put(20 * kMiB);
  EXPECT_EQ(cache.bytes(), 4 * kMiB);
  EXPECT_FALSE(cache.find(feed, 1));
  EXPECT_TRUE(cache.find(feed, sequence - 4'000));
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_FALSE(cache.find(feed, sequence));
  put(kMiB / 2);
  EXPECT_EQ(cache.bytes(), kMiB);
  EXPECT_TRUE(cache.find(feed, sequence));
}

TEST(PacketCache, CountsItsIndexesAndMakesThemSmaller) {
  PacketCache cache(8u << 20);
  {
    PacketCache::Index feed, other;
    EXPECT_EQ(cache.index_bytes(), 0u);
    for (std::uint64_t i = 0; i < 40'000; ++i) cache.put(feed, i, packet({1}));
    cache.put(other, 7, packet({1}));
    EXPECT_EQ(cache.index_bytes(), (65'536u + 64u) * 8);
    cache.fit(feed);
    EXPECT_EQ(cache.index_bytes(), (65'536u + 64u) * 8) << "all of it is there";
    for (std::uint64_t i = 0; i < 7'700; ++i) cache.put(other, 8 + i, packet(Bytes(1'000)));
    ASSERT_TRUE(cache.find(feed, 39'999));
    std::uint64_t first = 39'999;
    while (cache.find(feed, first - 1)) --first;
    ASSERT_LT(first, 39'900u);
    ASSERT_GT(first, 30'000u);
    const std::size_t of_other = cache.index_bytes() - 65'536 * 8;
    cache.fit(feed);
    EXPECT_LE(cache.index_bytes() - of_other, 4 * 8 * std::bit_ceil(40'000 - first));
    for (std::uint64_t i = first; i < 40'000; ++i) ASSERT_TRUE(cache.find(feed, i)) << i;
    cache.put(feed, 40'000, packet({1}));
    EXPECT_TRUE(cache.find(feed, 40'000));
    cache.clear();
    cache.fit(feed);
    EXPECT_EQ(cache.index_bytes(), of_other + 64 * 8);
  }
  EXPECT_EQ(cache.index_bytes(), 0u);
}

/// Against a list: the newest packets of all feeds, whose bytes fit.
TEST(PacketCache, LetsTheOldestGo) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    constexpr std::size_t kBytes = 20'000;
    PacketCache cache(kBytes);
    std::vector<PacketCache::Index> feeds(3);
    std::vector<std::uint64_t> next(3, (std::uint64_t{1} << 32) - 100);
    struct Put {
      std::size_t feed;
      std::uint64_t sequence;
      Bytes payload;
    };
    std::deque<Put> model;
    std::size_t kept = 0;
    for (int i = 0; i < 1'500; ++i) {
      const std::size_t feed = random.below(feeds.size());
      const Bytes payload(random.below(300), static_cast<std::uint8_t>(i));
      const std::uint64_t sequence = next[feed]++;
      cache.put(feeds[feed], sequence, packet(payload));
      model.push_back({feed, sequence, payload});
      if (model.size() > 400) model.pop_front();
      bool is_there = true;
      std::size_t bytes = 0;
      for (auto each = model.rbegin(); each != model.rend(); ++each) {
        const auto found = cache.find(feeds[each->feed], each->sequence);
        EXPECT_TRUE(is_there || !found) << "an older one is there, and a newer one is not";
        is_there = is_there && found;
        if (!found) continue;
        EXPECT_EQ(bytes_of(found->payload), each->payload);
        bytes += each->payload.size();
      }
      kept = std::max(kept, bytes);
    }
    EXPECT_GT(kept, kBytes / 2);
    EXPECT_LT(kept, kBytes);
  }
}

}  // namespace
}  // namespace spindled
