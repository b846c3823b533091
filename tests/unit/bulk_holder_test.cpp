// The sending side of a bulk channel: streams, grants, what is in memory.
#include "libclient/bulk/bulk_holder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <set>

#include "libclient/bulk/crc32c.h"
#include "tests/support/known_content.h"
#include "tests/support/repeating_code.h"
#include "tests/support/sha256.h"

namespace spindle::bulk {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t kT = 1024;
constexpr std::uint32_t kK = 8;
constexpr std::uint32_t kPlace = 100, kStart = 7;

TEST(RepairIdsOfSenders, FollowTheirRule) {
  RepairIds ids(kPlace, kStart);
  EXPECT_EQ(ids.next(3, 1024), 1024u + 2048 * 7 + 100);
  EXPECT_EQ(ids.next(3, 1024), 1024u + 2048 * 8 + 100);
  EXPECT_EQ(ids.next(4, 10), 10u + 2048 * 7 + 100) << "each block counts on its own";
}

TEST(RepairIdsOfSenders, AreAllDifferent) {
  for (const std::uint32_t symbols : {1u, 1024u, kSymbolsPerBlockMax}) {
    RepairIds ids(2047, 4095);
    std::set<std::uint32_t> seen;
    for (int i = 0; i < 100'000; ++i) {
      const std::uint32_t id = ids.next(0, symbols);
      ASSERT_GE(id, symbols);
      ASSERT_LE(id, kEsiMax);
      ASSERT_TRUE(seen.insert(id).second) << i;
    }
  }
}

class BulkHolders : public testing::Test {
 protected:
  void hold(std::size_t size, BulkHolder::Kind kind = BulkHolder::Kind::source, std::size_t blocks_in_memory = 4) {
    content_ = test::content_of(3, size);
    layout_ = {kK * kT, kT, size};
    holder_.emplace(kind, layout_, RepairIds(kPlace, kStart), HolderLimits{blocks_in_memory});
    holder_->handle_available(BlockSet::of_first(layout_.blocks()));
  }
  Bytes expected(const Symbol& symbol) const {
    Bytes bytes(kT);
    const std::size_t from = layout_.start_of(symbol.block) + symbol.esi % layout_.symbols_of(symbol.block) * kT;
    std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(from), std::min<std::size_t>(kT, content_.size() - from),
                bytes.begin());
    return bytes;
  }
  bool load() {
    auto job = holder_->take_job();
    if (!job) return false;
    ++loads_;
    const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
      if (is_unreadable_) return false;
      std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
      return true;
    };
    holder_->handle_loaded(bulk::run(std::move(*job), read, code_, sha256_));
    return true;
  }
  /// The next symbol, whatever has to be loaded for it.
  std::optional<Symbol> next() {
    while (true) {
      const auto symbol = holder_->next_symbol();
      if (symbol) {
        EXPECT_EQ(symbol->crc, crc32c(symbol->bytes));
        EXPECT_EQ(Bytes(symbol->bytes.begin(), symbol->bytes.end()), expected(*symbol));
        return symbol;
      }
      if (!load()) return std::nullopt;
    }
  }
  struct Sent {
    unsigned stream;
    std::uint32_t block;
    std::vector<std::uint32_t> esis;
    bool operator==(const Sent&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Sent& sent) {
      out << "stream " << sent.stream << ", block " << sent.block << ":";
      for (const std::uint32_t esi : sent.esis) out << ' ' << esi;
      return out;
    }
  };
  /// All that is sent now, neighbours of one block and stream together.
  std::vector<Sent> all() {
    std::vector<Sent> sent;
    while (const auto symbol = next()) {
      if (sent.empty() || sent.back().stream != symbol->stream || sent.back().block != symbol->block) {
        sent.push_back({symbol->stream, symbol->block, {}});
      }
      sent.back().esis.push_back(symbol->esi);
    }
    return sent;
  }
  static std::vector<std::uint32_t> repair(std::uint32_t first, std::uint32_t count, std::uint32_t symbols = kK) {
    std::vector<std::uint32_t> esis;
    for (std::uint32_t i = first; i < first + count; ++i) esis.push_back(symbols + 2048 * (kStart + i) + kPlace);
    return esis;
  }
  static Need need_of(std::uint32_t complete, std::vector<Need::Begun> begun) {
    return {BlockSet::of_first(complete), std::move(begun), false};
  }

  test::RepeatingCode code_;
  test::Sha256 sha256_;
  Bytes content_;
  ContentLayout layout_;
  std::optional<BulkHolder> holder_;
  std::size_t loads_ = 0;
  bool is_unreadable_ = false;
};

const std::vector<std::uint32_t> kSource{0, 1, 2, 3, 4, 5, 6, 7};

TEST_F(BulkHolders, SendLiveWhatIsGranted) {
  hold(2 * kK * kT + 2 * kT - 1);
  EXPECT_FALSE(next());
  EXPECT_EQ(loads_, 0u);
  holder_->handle_grant(kLiveStream, 10);
  EXPECT_EQ(all(), (std::vector<Sent>{{0, 0, kSource}, {0, 1, {0, 1}}}));
  holder_->handle_grant(kLiveStream, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{{0, 1, {2, 3, 4, 5, 6, 7}}, {0, 2, {0, 1}}}));
  EXPECT_TRUE(holder_->is_live_over());
  EXPECT_EQ(loads_, 3u);
  EXPECT_EQ(holder_->counters().source, 18u);
}

TEST_F(BulkHolders, TellTheIndexOnce) {
  hold(3 * kK * kT);
  EXPECT_FALSE(holder_->take_index());
  holder_->handle_grant(kLiveStream, 1);
  EXPECT_TRUE(load() || !holder_->next_symbol());
  while (load()) continue;
  auto index = holder_->take_index();
  ASSERT_TRUE(index);
  EXPECT_EQ(index->first, 0u);
  EXPECT_EQ(index->count(), 1u);
  EXPECT_FALSE(holder_->take_index());
  holder_->handle_grant(kLiveStream, 1000);
  all();
  index = holder_->take_index();
  EXPECT_EQ(index->first, 1u);
  EXPECT_EQ(index->count(), 2u);
  EXPECT_EQ(holder_->index().root(3, sha256_), sha256_.hash(holder_->index().hashes_from(0, 3)));
}

TEST_F(BulkHolders, PassOverWhatNobodyWants) {
  hold(6 * kK * kT);
  holder_->handle_grant(kLiveStream, 1);
  EXPECT_EQ(all(), (std::vector<Sent>{{0, 0, {0}}}));
  Need unwanted = need_of(2, {});
  unwanted.complete.add_run(3, 5);
  holder_->handle_need(kLiveStream, unwanted);
  EXPECT_EQ(holder_->passed_over_bytes(), 0u) << "what has begun is sent to its end";
  holder_->handle_grant(kLiveStream, 2 * kK - 1);
  EXPECT_EQ(all(), (std::vector<Sent>{{0, 0, {1, 2, 3, 4, 5, 6, 7}}, {0, 2, kSource}}));
  EXPECT_EQ(holder_->passed_over_bytes(), 3u * kK * kT);
  EXPECT_EQ(holder_->live_bytes(), 5u * kK * kT);
  // Who lacks it all the same gets it in a stream.
  holder_->handle_need(1, need_of(0, {}));
  holder_->handle_grant(1, 4 * kK);
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 0, kSource}, {1, 1, kSource}, {1, 2, kSource}, {1, 3, kSource}}));
  // The last word counts.
  holder_->handle_need(kLiveStream, need_of(6, {}));
  EXPECT_TRUE(holder_->is_live_over());
  EXPECT_EQ(holder_->take_finished(), kLiveStream);
}

TEST_F(BulkHolders, PassOverNothingOnANewConnectionBeforeTheyAreToldTo) {
  hold(3 * kK * kT);
  Need unwanted;
  unwanted.complete.add_run(1, 3);
  holder_->handle_need(kLiveStream, unwanted);
  holder_->handle_attached();
  holder_->handle_grant(kLiveStream, 1000);
  EXPECT_THAT(all(), testing::SizeIs(3));
}

TEST_F(BulkHolders, HashWhatTheyPassOver) {
  hold(8 * kK * kT);
  EXPECT_FALSE(holder_->take_hash_job(false));
  holder_->handle_need(kLiveStream, need_of(4, {}));
  holder_->handle_grant(kLiveStream, 1);
  EXPECT_TRUE(next());
  EXPECT_FALSE(holder_->take_index()) << "daemons take hashes in order";
  const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
    std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
    return true;
  };
  std::vector<LoadJob> jobs;
  std::vector<std::uint32_t> hashed;
  for (int i = 0; i < 8; ++i) {
    const bool is_idle = i >= 4;
    while (auto job = holder_->take_hash_job(is_idle)) jobs.push_back(std::move(*job));
    EXPECT_LE(jobs.size(), BulkHolder::kHashJobsMax);
    EXPECT_EQ(jobs.size(), holder_->hash_jobs());
    if (jobs.empty()) continue;
    hashed.push_back(jobs.front().place.block);
    holder_->handle_loaded(bulk::run(std::move(jobs.front()), read, code_, sha256_));
    jobs.erase(jobs.begin());
  }
  EXPECT_EQ(hashed, (std::vector<std::uint32_t>{0, 1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(holder_->take_index()->count(), 8u);
  EXPECT_TRUE(holder_->index().root(8, sha256_));
}

TEST_F(BulkHolders, AStreamGivesWhatTheChildLacks) {
  hold(5 * kK * kT, BulkHolder::Kind::receiver);
  holder_->handle_need(9, need_of(1, {{1, 3}, {3, 8}}));
  EXPECT_FALSE(next()) << "without a grant";
  EXPECT_FALSE(holder_->take_finished());
  holder_->handle_grant(9, 1000);
  EXPECT_EQ(all(),
            (std::vector<Sent>{{9, 1, repair(0, kK - 3)}, {9, 2, kSource}, {9, 3, repair(0, 2)}, {9, 4, kSource}}));
  EXPECT_FALSE(holder_->take_index()) << "a receiver makes none";
  EXPECT_EQ(holder_->index().known().count(), 0u);
  EXPECT_EQ(holder_->take_finished(), 9);
  EXPECT_FALSE(holder_->take_finished());
  EXPECT_EQ(holder_->streams(), 0u);
  // The next need goes on with other symbols.
  holder_->handle_need(9, need_of(1, {{1, 7}, {2, 8}, {3, 9}, {4, 5}}));
  holder_->handle_grant(9, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{
                       {9, 1, repair(5, 1)}, {9, 2, repair(0, 2)}, {9, 3, repair(2, 2)}, {9, 4, repair(0, 3)}}));
  EXPECT_EQ(holder_->take_finished(), 9);
  holder_->handle_need(9, need_of(5, {}));
  EXPECT_EQ(holder_->take_finished(), 9) << "it lacks nothing";
}

TEST_F(BulkHolders, StreamsHaveWhatWasSentLive) {
  hold(4 * kK * kT);
  holder_->handle_need(1, {});
  holder_->handle_grant(1, 1000);
  EXPECT_TRUE(all().empty());
  EXPECT_EQ(holder_->take_finished(), 1);
  holder_->handle_grant(kLiveStream, 2 * kK + 1);
  EXPECT_EQ(all().size(), 3u);
  holder_->handle_need(1, need_of(0, {{0, 6}}));
  holder_->handle_grant(1, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 0, repair(0, 2)}, {1, 1, kSource}})) << "the block 2 is being sent live";
  EXPECT_EQ(holder_->take_finished(), 1);
  EXPECT_FALSE(holder_->take_finished());
  holder_->handle_grant(kLiveStream, 1000);
  EXPECT_EQ(all().size(), 2u);
  EXPECT_EQ(holder_->take_finished(), kLiveStream);
  EXPECT_FALSE(holder_->take_finished()) << "once";
}

TEST_F(BulkHolders, TakeTurns) {
  hold(40 * kK * kT, BulkHolder::Kind::receiver, 2);
  // Five children at different places, with memory for two blocks.
  for (std::uint8_t stream = 1; stream <= 5; ++stream) {
    holder_->handle_need(stream, need_of(6u * stream, {}));
    holder_->handle_grant(stream, 8 * kK);
  }
  std::map<unsigned, std::size_t> sent;
  while (const auto symbol = next()) ++sent[symbol->stream];
  EXPECT_EQ(sent, (std::map<unsigned, std::size_t>{{1, 64}, {2, 64}, {3, 64}, {4, 64}, {5, 64}}));
  EXPECT_LE(loads_, 5u * 8 + 5);
}

TEST_F(BulkHolders, ReleasedStreamsAreOver) {
  hold(4 * kK * kT, BulkHolder::Kind::receiver);
  holder_->handle_need(1, {});
  holder_->handle_grant(1, 3);
  EXPECT_TRUE(next());
  holder_->handle_release(1);
  EXPECT_FALSE(next());
  EXPECT_EQ(holder_->streams(), 0u);
  holder_->handle_grant(1, 3);
  EXPECT_FALSE(next()) << "grants come behind the need that they are for";
  holder_->handle_need(1, {});
  holder_->handle_grant(1, 3);
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 0, {0, 1, 2}}}));
}

TEST_F(BulkHolders, WhatCannotBeReadIsNotSent) {
  hold(2 * kK * kT, BulkHolder::Kind::receiver);
  holder_->handle_need(1, {});
  holder_->handle_grant(1, 1000);
  is_unreadable_ = true;
  EXPECT_FALSE(next());
  EXPECT_EQ(holder_->counters().bad, 2u);
  is_unreadable_ = false;
  EXPECT_FALSE(next());
  holder_->handle_available(BlockSet::of_first(1));
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 0, kSource}}));
}

TEST_F(BulkHolders, BlocksThatAreNotWhatTheyWereAreNotSent) {
  hold(3 * kK * kT, BulkHolder::Kind::receiver);
  BlockIndex right;
  for (std::uint32_t block = 0; block < 3; ++block) {
    right.set(block, sha256_.hash(ByteView(content_).subspan(layout_.start_of(block), layout_.bytes_of(block))));
  }
  holder_->set_hashes(right);
  ++content_[kK * kT + 77];  // it went bad on the disk
  holder_->handle_need(1, {});
  holder_->handle_grant(1, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 0, kSource}, {1, 2, kSource}}));
  EXPECT_EQ(holder_->counters().bad, 1u);
  EXPECT_EQ(holder_->take_bad(), 1u);
  EXPECT_EQ(holder_->take_bad(), std::nullopt) << "once";
  --content_[kK * kT + 77];  // it was fetched again
  holder_->handle_available(BlockSet::of_first(3));
  holder_->handle_need(1, need_of(1, {{2, kK}}));
  holder_->handle_grant(1, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 1, kSource}, {1, 2, repair(0, 2)}}));
}

TEST_F(BulkHolders, OfASourceHoldBlocksToWhatTheyWereBefore) {
  hold(2 * kK * kT, BulkHolder::Kind::source, 1);
  holder_->handle_grant(kLiveStream, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{{0, 0, kSource}, {0, 1, kSource}}));
  ++content_[77];
  holder_->handle_need(1, {});
  holder_->handle_grant(1, 1000);
  EXPECT_EQ(all(), (std::vector<Sent>{{1, 1, kSource}}));
  EXPECT_EQ(holder_->counters().bad, 1u);
  EXPECT_EQ(holder_->take_bad(), 0u);
}

TEST_F(BulkHolders, HostileNeedsAndGrantsCostLittle) {
  hold(2 * kK * kT, BulkHolder::Kind::receiver);
  Need need;
  for (std::uint32_t block = 0; block < kBlocksMax; block += 2) need.complete.add(block);
  for (std::uint32_t block = 1; need.begun.size() < kBegunBlocksMax; block += 2) {
    need.begun.push_back({block, kHeldSymbolsMax - 1});
  }
  for (unsigned stream = 0; stream < 256; ++stream) {
    holder_->handle_need(static_cast<std::uint8_t>(stream), need);
    for (int i = 0; i < 3; ++i) holder_->handle_grant(static_cast<std::uint8_t>(stream), UINT64_MAX);
  }
  EXPECT_GT(holder_->counters().refused, 200u);
  std::map<unsigned, std::size_t> sent;
  while (const auto symbol = next()) ++sent[symbol->stream];
  EXPECT_EQ(sent[1], 2u) << "it holds too many, and cannot decode: two more";
  EXPECT_EQ(sent.count(0), 0u);
}

}  // namespace
}  // namespace spindle::bulk
