// The receiving side of a bulk channel, symbol by symbol.
#include "libclient/bulk/bulk_receiver.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "libclient/bulk/crc32c.h"
#include "tests/support/bulk_store.h"
#include "tests/support/known_content.h"
#include "tests/support/repeating_code.h"
#include "tests/support/sha256.h"

namespace spindle::bulk {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t kT = 1024;
constexpr std::uint32_t kK = 8;

/// Blocks of eight symbols, with a code in which the symbol i is the source symbol i modulo their number.
class BulkReceivers : public testing::Test {
 protected:
  void offer(std::size_t size, std::uint64_t told_size) {
    content_ = test::content_of(size, size);
    layout_ = {kK * kT, kT, told_size};
    sealed_ = {kK * kT, kT, size};
    for (std::uint32_t block = 0; block < sealed_.blocks(); ++block) index_.set(block, sha256_.hash(block_of(block)));
  }
  void offer(std::size_t size) { offer(size, size); }
  void begin(const ReceiverLimits& limits = {}, const ResumeState* resumed = nullptr) {
    receiver_.emplace(layout_, sha256_, limits, resumed);
  }
  ByteView block_of(std::uint32_t block) const {
    return ByteView(content_).subspan(sealed_.start_of(block), sealed_.bytes_of(block));
  }
  Bytes symbol_bytes(std::uint32_t block, std::uint32_t esi) const {
    Bytes bytes(kT);
    const ByteView whole = block_of(block);
    const std::size_t from = esi % sealed_.symbols_of(block) * kT;
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(from), std::min<std::size_t>(kT, whole.size() - from),
                bytes.begin());
    return bytes;
  }
  SymbolUse give(std::uint32_t block, std::uint32_t esi, std::uint32_t from = 0) {
    return give(block, esi, symbol_bytes(block, esi), from);
  }
  SymbolUse give(std::uint32_t block, std::uint32_t esi, const Bytes& bytes, std::uint32_t from) {
    return receiver_->handle_symbol(now_, {0, 0, 0, block, esi, crc32c(bytes), bytes}, from);
  }
  void give_block(std::uint32_t block, std::uint32_t first = 0) {
    for (std::uint32_t i = 0; i < sealed_.symbols_of(block); ++i) give(block, first + i);
  }
  void tell_index() { receiver_->handle_index(now_, {0, 0, index_.hashes_from(0, sealed_.blocks())}); }
  bool seal() { return receiver_->handle_seal(now_, content_.size(), root()); }
  BlockHash root() const { return index_.root(sealed_.blocks(), sha256_).value(); }
  void run() { store_.run_all(now_, *receiver_); }
  /// Of a receiver that has the first two.
  ResumeState state_of_two_blocks() {
    begin();
    tell_index();
    give_block(0);
    give_block(1);
    run();
    return receiver_->resume_state();
  }
  std::optional<Need> need_after(Nanoseconds time) {
    now_ += time;
    return receiver_->take_need(now_);
  }

  test::Sha256 sha256_;
  test::RepeatingCode code_;
  test::BulkStore store_{code_, sha256_};
  Bytes content_;
  ContentLayout layout_, sealed_;
  BlockIndex index_;
  std::optional<BulkReceiver> receiver_;
  Nanoseconds now_ = 10s;
};

TEST_F(BulkReceivers, PutContentTogether) {
  offer(3 * kK * kT - 100);
  begin();
  tell_index();
  for (std::uint32_t block = 0; block < 3; ++block) give_block(block);
  run();
  EXPECT_FALSE(receiver_->is_done()) << "not sealed";
  EXPECT_EQ(receiver_->written().count(), 3u);
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
  const ReceiverProgress progress = receiver_->progress(now_);
  EXPECT_EQ(progress.bytes_verified, content_.size());
  EXPECT_EQ(progress.size, content_.size());
  EXPECT_GT(progress.bytes_per_second, 0u);
  EXPECT_EQ(receiver_->counters().useful, 3 * kK);
}

TEST_F(BulkReceivers, EmptyContentIsDoneWhenItIsSealed) {
  offer(0);
  begin();
  EXPECT_EQ(receiver_->handle_symbol(now_, {0, 0, 0, 0, 0, 0, Bytes(kT)}, 0), SymbolUse::foreign);
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
}

TEST_F(BulkReceivers, BlocksWaitForTheirHashes) {
  offer(2 * kK * kT);
  begin();
  give_block(0);
  give_block(1, 50);
  EXPECT_FALSE(receiver_->take_job());
  receiver_->handle_index(now_, {0, 1, index_.hashes_from(1, 1)});
  run();
  EXPECT_FALSE(receiver_->complete().contains(0));
  EXPECT_TRUE(receiver_->written().contains(1));
  tell_index();
  run();
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, CountWhatIsOfNoUse) {
  offer(2 * kK * kT);
  begin();
  tell_index();
  EXPECT_EQ(give(0, 3), SymbolUse::useful);
  EXPECT_EQ(give(0, 3), SymbolUse::duplicate);
  Bytes bytes = symbol_bytes(0, 4);
  const std::uint32_t crc = crc32c(bytes);
  ++bytes[7];
  EXPECT_EQ(receiver_->handle_symbol(now_, {0, 0, 0, 0, 4, crc, bytes}, 0), SymbolUse::corrupt);
  EXPECT_EQ(receiver_->handle_symbol(now_, {0, 0, 0, 2, 4, crc, bytes}, 0), SymbolUse::foreign);
  EXPECT_EQ(receiver_->handle_symbol(now_, {0, 0, 0, kBlocksMax - 1, 4, crc, bytes}, 0), SymbolUse::foreign);
  bytes.resize(2 * kT);
  EXPECT_EQ(receiver_->handle_symbol(now_, {0, 0, 0, 0, 4, crc32c(bytes), bytes}, 0), SymbolUse::foreign);
  give_block(1);
  run();
  EXPECT_EQ(give(1, 77), SymbolUse::duplicate) << "of a block that is complete";
  const ReceiverCounters counters = receiver_->counters();
  EXPECT_EQ(counters.useful, 1 + kK);
  EXPECT_EQ(counters.duplicate, 2u);
  EXPECT_EQ(counters.corrupt, 1u);
  EXPECT_EQ(counters.foreign, 3u);
}

TEST_F(BulkReceivers, TakeMoreSymbolsWhereTheyDoNotSuffice) {
  offer(kK * kT);
  begin();
  tell_index();
  for (std::uint32_t i = 0; i < kK; ++i) give(0, i == 0 ? 9 : i);  // the source symbol 0 is not among them
  auto job = receiver_->take_job();
  ASSERT_TRUE(job);
  EXPECT_FALSE(receiver_->take_job());
  EXPECT_EQ(give(0, 17), SymbolUse::useful) << "while it is decoded";
  EXPECT_EQ(give(0, 9), SymbolUse::duplicate) << "a job has it";
  store_.run(now_, *receiver_, std::move(*job));
  EXPECT_EQ(receiver_->counters().failed_decodes, 1u);
  run();
  EXPECT_EQ(receiver_->counters().failed_decodes, 2u) << "with the one that came meanwhile";
  EXPECT_FALSE(receiver_->take_job());
  give(0, 16);
  run();
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, TakeMoreSymbolsWhereTheyDoNotSufficeHoweverLittleMemoryThereIs) {
  offer(kK * kT);
  ReceiverLimits limits;
  limits.symbols.repair_bytes = 1;  // a block and four symbols at least
  begin(limits);
  tell_index();
  for (std::uint32_t i = 1; i <= kK; ++i) give(0, (i == kK ? 2 * kK + 1 : kK + i));  // none is the source symbol 0
  run();
  EXPECT_EQ(receiver_->counters().failed_decodes, 1u);
  EXPECT_EQ(give(0, 2 * kK), SymbolUse::useful);
  run();
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, ABlockThatIsWrongBeginsAnew) {
  offer(2 * kK * kT);
  begin();
  tell_index();
  for (std::uint32_t i = 0; i < kK; ++i) give(0, i, i == 5 ? Bytes(kT, 1) : symbol_bytes(0, i), i == 5 ? 42 : 7);
  run();
  EXPECT_EQ(receiver_->counters().wrong_blocks, 1u);
  const auto wrong = receiver_->take_wrong_blocks();
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].block, 0u);
  EXPECT_EQ(wrong[0].senders, (std::vector<std::uint32_t>{7, 42}));
  EXPECT_TRUE(receiver_->take_wrong_blocks().empty());
  EXPECT_EQ(receiver_->take_need(now_)->held_of(0), 0u);
  give_block(0);
  give_block(1);
  run();
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, AWrongIndexIsSeenByTheRoot) {
  offer(2 * kK * kT);
  begin();
  // A hash that is wrong, and a block that fits it.
  Bytes wrong_block(kK * kT, 3);
  BlockIndex wrong = index_;
  wrong.set(0, sha256_.hash(wrong_block));
  receiver_->handle_index(now_, {0, 0, wrong.hashes_from(0, 2)});
  for (std::uint32_t i = 0; i < kK; ++i) give(0, i, Bytes(kT, 3), 0);
  give_block(1);
  run();
  EXPECT_EQ(receiver_->written().count(), 2u);
  EXPECT_TRUE(seal());
  EXPECT_FALSE(receiver_->is_done());
  EXPECT_EQ(receiver_->counters().wrong_indexes, 1u);
  tell_index();
  EXPECT_EQ(receiver_->written().count(), 1u);
  EXPECT_EQ(receiver_->progress(now_).bytes_verified, kK * kT);
  receiver_->handle_index(now_, {0, 0, wrong.hashes_from(0, 2)});
  give_block(0);
  run();
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, AWrongIndexIsAskedForAgainUntilTheRightOneComes) {
  offer(3 * kK * kT);
  begin();
  EXPECT_FALSE(receiver_->take_index_wish(now_));
  BlockIndex wrong = index_;
  wrong.set(0, BlockHash{});
  receiver_->handle_index(now_, {0, 0, wrong.hashes_from(0, 3)});
  EXPECT_FALSE(receiver_->take_index_wish(now_)) << "nobody can know yet";
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->take_index_wish(now_));
  EXPECT_FALSE(receiver_->take_index_wish(now_)) << "once a second";
  now_ += 1s;
  EXPECT_TRUE(receiver_->take_index_wish(now_));
  receiver_->handle_index(now_, {0, 0, index_.hashes_from(0, 1)});
  now_ += 1s;
  EXPECT_TRUE(receiver_->take_index_wish(now_)) << "the rest is lacking";
  tell_index();
  now_ += 1s;
  EXPECT_FALSE(receiver_->take_index_wish(now_));
  for (std::uint32_t block = 0; block < 3; ++block) give_block(block);
  run();
  EXPECT_TRUE(receiver_->is_done());
}

TEST_F(BulkReceivers, GiveTheIndexThatTheRootHasProved) {
  const std::uint32_t blocks = kHashesPerIndexMax + 2;
  offer(blocks * kK * kT);
  begin();
  receiver_->set_serves(true);
  tell_index();
  EXPECT_FALSE(receiver_->take_need(now_)->knows_index);
  receiver_->handle_index_asked();
  EXPECT_FALSE(receiver_->take_index()) << "it may be wrong";
  EXPECT_TRUE(seal());
  EXPECT_TRUE(need_after(300ms)->knows_index) << "that is news";
  EXPECT_FALSE(receiver_->take_index()) << "nobody asks";
  for (int i = 0; i < 2; ++i) {
    receiver_->handle_index_asked();
    auto part = receiver_->take_index();
    ASSERT_TRUE(part);
    EXPECT_EQ(part->first, 0u);
    EXPECT_EQ(part->count(), kHashesPerIndexMax);
    part = receiver_->take_index();
    ASSERT_TRUE(part);
    EXPECT_EQ(part->first, kHashesPerIndexMax);
    EXPECT_EQ(Bytes(part->hash(1).begin(), part->hash(1).end()),
              Bytes(index_.find(blocks - 1)->begin(), index_.find(blocks - 1)->end()));
    EXPECT_FALSE(receiver_->take_index());
  }
  receiver_->set_serves(false);
  EXPECT_FALSE(need_after(300ms)->knows_index);
  receiver_->handle_index_asked();
  EXPECT_FALSE(receiver_->take_index()) << "it gives nothing";
}

TEST_F(BulkReceivers, BlocksThatWentBadAreFetchedAnew) {
  offer(2 * kK * kT);
  begin();
  tell_index();
  EXPECT_TRUE(seal());
  receiver_->handle_bad(1);
  for (std::uint32_t block = 0; block < 2; ++block) give_block(block);
  run();
  ASSERT_TRUE(receiver_->is_done());
  need_after(300ms);
  EXPECT_EQ(receiver_->need_due(), std::nullopt);
  receiver_->handle_bad(1);
  EXPECT_FALSE(receiver_->is_done());
  EXPECT_EQ(receiver_->written().count(), 1u);
  EXPECT_EQ(receiver_->hashes().find(1), nullptr);
  const auto need = need_after(0ms);
  ASSERT_TRUE(need) << "at once";
  EXPECT_TRUE(need->lost);
  EXPECT_FALSE(need->complete.contains(1));
  EXPECT_NE(receiver_->need_due(), std::nullopt) << "it waits for something";
  give_block(1);
  run();
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, StreamsGetTheirEndLate) {
  for (const bool early : {true, false}) {
    store_.content.clear();
    index_.clear();
    offer(kK * kT + 3 * kT - 9, kSizeUnknown);
    begin();
    tell_index();
    give_block(0);
    for (const std::uint32_t esi : {1u, 5u, 3u}) give(1, esi);  // of three: the source symbol 1, and two repair symbols
    give(1, kK + 1);
    run();
    EXPECT_TRUE(receiver_->written().contains(0));
    EXPECT_FALSE(receiver_->complete().contains(1)) << "of eight symbols only four are there";
    if (early) {
      EXPECT_EQ(receiver_->take_need(now_)->held_of(1), 4u);
    }
    EXPECT_TRUE(seal());
    run();
    EXPECT_TRUE(receiver_->is_done());
    EXPECT_EQ(store_.content, content_);
    EXPECT_FALSE(receiver_->handle_seal(now_, 1, root())) << "sealed otherwise";
  }
}

TEST_F(BulkReceivers, WhatIsBeyondTheEndIsForgotten) {
  offer(kK * kT + 10, kSizeUnknown);
  ReceiverLimits limits;
  limits.symbols.source_bytes = kK * kT;
  begin(limits);
  tell_index();
  // Symbols of more blocks than there are, some of them stored, and a block more that fits its hash.
  const Bytes any(kT, 9);
  for (std::uint32_t block = 1; block < 4; ++block) {
    for (std::uint32_t esi = 0; esi < 5; ++esi) give(block, esi, any, 0);
  }
  const Bytes whole(kK * kT, 9);
  const BlockHash hash = sha256_.hash(whole);
  receiver_->handle_index(now_, {0, 5, hash});
  for (std::uint32_t esi = 0; esi < kK; ++esi) {
    run();
    give(5, esi, any, 0);
  }
  run();
  EXPECT_TRUE(receiver_->complete().contains(5));
  for (std::uint32_t esi = 2; esi < kK; ++esi) {
    give(1, esi, any, 0);
    give(2, esi, any, 0);
  }
  EXPECT_TRUE(seal());
  EXPECT_FALSE(receiver_->complete().contains(5));
  EXPECT_EQ(receiver_->progress(now_).bytes_verified, 0u);
  EXPECT_EQ(give(5, 0, any, 0), SymbolUse::foreign);
  for (std::uint32_t i = 0; i < 2; ++i) {
    give_block(0);
    give_block(1);
    EXPECT_FALSE(receiver_->is_done()) << "what was on its way has to arrive first";
    run();
  }
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(Bytes(store_.content.begin(), store_.content.begin() + static_cast<std::ptrdiff_t>(content_.size())),
            content_);
}

TEST_F(BulkReceivers, SourceSymbolsGoToTheirPlacesWhereMemoryIsUsedUp) {
  offer(40 * kK * kT - 77);
  ReceiverLimits limits;
  limits.symbols.source_bytes = 20 * kT;
  begin(limits);
  tell_index();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (std::uint32_t block = 0; block < 40; ++block) {
    for (std::uint32_t i = 0; i < sealed_.symbols_of(block); ++i) all.emplace_back(block, i % 3 == 0 ? i + 80 * kK : i);
  }
  std::mt19937 random(1);
  std::shuffle(all.begin(), all.end(), random);
  for (const auto& [block, esi] : all) {
    EXPECT_EQ(give(block, esi), SymbolUse::useful);
    EXPECT_LE(receiver_->symbol_memory_bytes(), 64u * 1024 * kT);
    run();
  }
  // Of the last block, which has other numbers, some are missing.
  for (std::uint32_t block = 0; block < 40; ++block) give_block(block);
  run();
  EXPECT_GT(store_.stored_symbols, 100u);
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, NothingIsDroppedThatItHasRoomForWhileSymbolsAreStored) {
  offer(40 * kK * kT);
  ReceiverLimits limits;
  limits.symbols.source_bytes = 20 * kT;
  begin(limits);
  tell_index();
  EXPECT_EQ(receiver_->room(), 40u);
  std::uint64_t given = 0;
  for (std::uint32_t esi = 0; esi + 1 < kK; ++esi) {
    for (std::uint32_t block = 0; block < 40; ++block) {  // no block is whole
      if (receiver_->room() == 0) {
        EXPECT_GE(given, 20u);
        given = 0;
        run();  // symbols are stored
      }
      ++given;
      ASSERT_EQ(give(block, esi), SymbolUse::useful);
    }
  }
  EXPECT_GT(store_.stored_symbols, 100u);
  EXPECT_EQ(receiver_->counters().no_room, 0u);
}

TEST_F(BulkReceivers, MemoryHasABound) {
  offer(100 * kK * kT);
  for (const bool has_store : {true, false}) {
    ReceiverLimits limits;
    limits.symbols = {3 * kK * kT, 2 * kK * kT, has_store};
    begin(limits);
    // Nobody runs the jobs.
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint32_t esi = static_cast<std::uint32_t>(random() % 2 == 0 ? random() % kK : random() % 0xffffff);
      give(static_cast<std::uint32_t>(random() % 100), esi);
      ASSERT_LE(receiver_->symbol_memory_bytes(), (has_store ? 8u : 5u) * kK * kT);
    }
    const ReceiverCounters counters = receiver_->counters();
    EXPECT_GT(counters.given_up, 0u);
    EXPECT_GT(counters.no_room, 10'000u);
    EXPECT_LE(receiver_->take_need(now_)->begun.size(), 100u);
  }
}

TEST_F(BulkReceivers, TheOldestBlocksKeepTheirMemory) {
  offer(9 * kK * kT);
  ReceiverLimits limits;
  limits.symbols.repair_bytes = 1;  // a block and four symbols at least
  begin(limits);
  tell_index();
  for (std::uint32_t i = 0; i < kK - 1; ++i) {
    give(3, kK + i);
    give(1, kK + i);
  }
  EXPECT_EQ(give(1, 99), SymbolUse::no_room);
  EXPECT_EQ(give(3, 2 * kK - 1), SymbolUse::useful);
  run();
  EXPECT_TRUE(receiver_->complete().contains(3));
  give_block(1, 20 * kK);
  run();
  EXPECT_TRUE(receiver_->complete().contains(1));
}

TEST_F(BulkReceivers, BrokenStoresCostTheirBlocksOnly) {
  offer(2 * kK * kT);
  ReceiverLimits limits;
  limits.symbols.source_bytes = 3 * kT;
  begin(limits);
  tell_index();
  give_block(0);
  store_.is_broken = true;
  run();
  EXPECT_GT(receiver_->counters().failed_stores, 0u);
  give_block(1, kK);
  run();
  EXPECT_TRUE(receiver_->written().empty());
  store_.is_broken = false;
  for (std::uint32_t block = 0; block < 2; ++block) {
    give_block(block, 10 * kK);
    run();
    give_block(block, 20 * kK);
    run();
  }
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST_F(BulkReceivers, TellThatWhatTheyCannotReadBackIsLost) {
  offer(2 * kK * kT);
  ReceiverLimits limits;
  limits.symbols.source_bytes = 3 * kT;
  begin(limits);
  tell_index();
  const auto give_some = [&](std::uint32_t symbols) {
    for (std::uint32_t esi = 0; esi < symbols; ++esi) {
      give(0, esi);
      run();
    }
  };
  give_some(kK - 1);
  EXPECT_GT(store_.stored_symbols, 0u);
  EXPECT_FALSE(receiver_->take_need(now_)->lost);
  store_.reads_to_fail = 1;
  give(0, kK - 1);
  run();
  EXPECT_EQ(receiver_->counters().failed_stores, 1u);
  const auto need = need_after(300ms);
  EXPECT_TRUE(need->lost);
  EXPECT_LT(need->held_of(0), kK);
  give_some(kK);
  EXPECT_TRUE(receiver_->written().contains(0));
  EXPECT_FALSE(need_after(300ms)->lost);
}

TEST_F(BulkReceivers, TellTheirNeedInTime) {
  offer(9 * kK * kT);
  begin();
  tell_index();
  EXPECT_EQ(need_after(0s), Need{}) << "the first one at once";
  EXPECT_FALSE(need_after(249ms));
  give(0, 1);
  give(0, 2);
  const auto need = need_after(1ms);
  ASSERT_TRUE(need);
  EXPECT_EQ(need->begun, (std::vector<Need::Begun>{{0, 2}}));
  give(0, 3);
  EXPECT_FALSE(need_after(249ms));
  EXPECT_EQ(receiver_->need_due(), now_ + 1ms);
  EXPECT_TRUE(need_after(1ms));
  EXPECT_FALSE(need_after(999ms));
  give(0, 3);  // no news, but something has come
  EXPECT_FALSE(need_after(999ms));
  EXPECT_TRUE(need_after(1ms)) << "after a second of silence";
  EXPECT_FALSE(need_after(999ms));
  EXPECT_TRUE(need_after(1ms)) << "again";
  for (std::uint32_t block = 0; block < 5; ++block) give_block(block);
  run();
  receiver_->set_serves(true);
  const auto told = need_after(250ms);
  EXPECT_EQ(told->complete, BlockSet::of_first(5));
  EXPECT_TRUE(told->serves);
  give_block(5);
  EXPECT_FALSE(need_after(0s));
  run();
  EXPECT_TRUE(need_after(0s)) << "one of the last blocks is complete";
  for (std::uint32_t block = 6; block < 9; ++block) give_block(block);
  run();
  EXPECT_TRUE(seal());
  EXPECT_EQ(need_after(0s)->complete, BlockSet::of_first(9));
  EXPECT_FALSE(need_after(3600s)) << "nothing is needed any more";
  EXPECT_FALSE(receiver_->need_due());
}

TEST_F(BulkReceivers, TellOnceThatTheyHaveLostWhatHasCome) {
  offer(2 * kK * kT);
  begin();
  tell_index();
  EXPECT_FALSE(receiver_->take_need(now_)->lost);
  give(0, 0);
  EXPECT_FALSE(need_after(300ms)->lost);
  receiver_->handle_symbol(now_, {0, 0, 0, 0, 1, 12345, symbol_bytes(0, 1)}, 0);
  EXPECT_TRUE(need_after(300ms)->lost);
  give(0, 2);
  EXPECT_FALSE(need_after(300ms)->lost);
  store_.is_broken = true;
  give_block(0);
  run();
  const auto need = need_after(300ms);
  EXPECT_TRUE(need->lost);
  EXPECT_FALSE(need->complete.contains(0));
}

TEST_F(BulkReceivers, GoOnWithWhatWasWritten) {
  offer(5 * kK * kT + 5);
  begin();
  tell_index();
  for (const std::uint32_t block : {0u, 1u, 4u, 5u}) give_block(block);
  give(2, 0);
  run();
  const auto state = ResumeState::decode(receiver_->resume_state().encode());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->written.count(), 4u);
  begin({}, &*state);
  EXPECT_EQ(receiver_->complete(), state->written);
  EXPECT_EQ(receiver_->progress(now_).bytes_verified, 3 * kK * kT + 5);
  EXPECT_EQ(give(4, 90), SymbolUse::duplicate);
  give_block(2);
  give_block(3);
  run();
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);

  layout_.symbol_bytes = 2 * kT;
  begin({}, &*state);
  EXPECT_TRUE(receiver_->complete().empty()) << "it is of another content";
}

TEST_F(BulkReceivers, OfStreamsSayToHaveABlockOnceItsHashIsTold) {
  for (const bool is_sealed_first : {false, true}) {
    offer(3 * kK * kT, kSizeUnknown);
    const ResumeState state = state_of_two_blocks();
    content_[kK * kT + 5] ^= 1;  // the stream is sent again, and has become another one
    index_.set(1, sha256_.hash(block_of(1)));
    begin({}, &state);
    EXPECT_TRUE(receiver_->complete().empty());
    EXPECT_TRUE(receiver_->written().empty()) << "nor is it given to others";
    EXPECT_EQ(receiver_->resume_state().written, state.written) << "it may still be the same";
    EXPECT_FALSE(receiver_->lacks_something()) << "of what is told";
    EXPECT_EQ(give(1, 0), SymbolUse::no_room) << "nothing is written there";
    if (is_sealed_first) {
      EXPECT_TRUE(seal());
    }
    tell_index();
    EXPECT_TRUE(receiver_->complete().contains(0));
    EXPECT_FALSE(receiver_->complete().contains(1)) << "its source is still asked for it";
    EXPECT_EQ(receiver_->counters().taken_back, 1u);
    EXPECT_EQ(receiver_->progress(now_).bytes_verified, kK * kT);
    give_block(1);
    give_block(2);
    run();
    EXPECT_TRUE(is_sealed_first || seal());
    EXPECT_TRUE(receiver_->is_done());
    EXPECT_EQ(store_.content, content_);
  }
}

TEST_F(BulkReceivers, OfStreamsWhoseRootIsThatOfWhatTheyHaveAreDone) {
  offer(2 * kK * kT, kSizeUnknown);
  const ResumeState state = state_of_two_blocks();
  begin({}, &state);
  EXPECT_TRUE(seal());
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(receiver_->complete().count(), 2u);
  EXPECT_EQ(receiver_->progress(now_).bytes_verified, content_.size());
}

TEST_F(BulkReceivers, FetchAllAgainWhereItsPlaceHasBegunAnew) {
  offer(3 * kK * kT);
  begin();
  tell_index();
  EXPECT_TRUE(seal());
  give_block(0);
  give(1, 3);
  run();
  give_block(2);
  auto decode = receiver_->take_job();
  ASSERT_TRUE(decode);
  receiver_->handle_all_lost();
  EXPECT_EQ(receiver_->counters().taken_back, 1u);
  EXPECT_TRUE(receiver_->resume_state().written.empty());
  store_.run(now_, *receiver_, std::move(*decode));
  run();
  EXPECT_TRUE(receiver_->complete().empty());
  EXPECT_EQ(receiver_->progress(now_).bytes_verified, 0u);
  for (std::uint32_t block = 0; block < 3; ++block) give_block(block);
  run();
  EXPECT_TRUE(receiver_->is_done());
  EXPECT_EQ(store_.content, content_);
}

TEST(ResumeStates, HaveWorkedBytes) {
  ResumeState state{{4096, 1024, 20'000}, std::nullopt, {}, {}};
  BlockHash hash{};
  hash.fill(0x11);
  state.written.add_run(0, 2);
  state.index.set(0, hash);
  state.index.set(1, hash);
  state.index.set(4, hash);
  Bytes expected{1, 0, 0x10, 0, 0, 0, 4, 0xa0, 0x9c, 1, 0, 1, 0, 2, 2, 0, 2, 2, 1};
  expected.insert(expected.end(), 3 * 32, 0x11);
  const Bytes bytes = state.encode();
  ASSERT_EQ(bytes.size(), expected.size() + 4);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.end() - 4), expected);
  const auto again = ResumeState::decode(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->layout, state.layout);
  EXPECT_EQ(again->written, state.written);
  EXPECT_EQ(again->index.known(), state.index.known());
  EXPECT_EQ(again->encode(), bytes);
  state.root = hash;
  EXPECT_EQ(ResumeState::decode(state.encode())->root, hash);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ResumeState::decode(ByteView(bytes).first(size)));
    Bytes wrong = bytes;
    wrong[size] ^= 1;
    EXPECT_FALSE(ResumeState::decode(wrong));
  }
  state.written.add(2);
  EXPECT_FALSE(ResumeState::decode(state.encode())) << "written, and its hash is not known";
  state.written.remove(2);
  state.index.set(5, hash);
  EXPECT_FALSE(ResumeState::decode(state.encode())) << "a block beyond the end";
}

}  // namespace
}  // namespace spindle::bulk
