// A receiver whose blocks went bad on the disk gives them to nobody.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "libclient/bulk/crc32c.h"
#include "libclient/src/bulk_transfer.h"
#include "tests/support/known_content.h"
#include "tests/unit/client_bulk_host.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using bulk::Nanoseconds;
using protocol::BulkOutcome;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kBlocks = 3, kSymbols = 8, kSymbolBytes = 1'024;

class Disk final : public test::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  StoreFailure write(std::uint64_t start, ByteView from) override {
    MemoryStore::write(start, from);
    const auto block = static_cast<std::uint32_t>(start / (kSymbols * kSymbolBytes));
    if (saved && saved->written.contains(block)) written_over.push_back(block);
    return {};
  }
  StoreFailure save(const bulk::ResumeState& state) override {
    if (has_no_room_for_state) return may_pass({Errc::no_space, {}});
    saved = state;
    return {};
  }
  void settle_state(bool stays) override {
    if (!stays) saved.reset();
  }

  std::optional<bulk::ResumeState> saved;   // what a program finds that runs next,
  std::vector<std::uint32_t> written_over;  // and writes to blocks that it named
  bool has_no_room_for_state = false;
};

class BulkBadBlocks : public testing::Test {
 protected:
  void SetUp() override {
    transfer_ =
        std::make_shared<BulkTransfer>(host_, BulkTransfer::Acceptance{{"alpha", 7, 8}, layout_, {}, disk_, true});
    transfer_->start();
    for (std::uint32_t block = 0; block < kBlocks; ++block) index_.set(block, host_.hasher().hash(block_of(block)));
    receiver().handle_index(now_, {1, 0, index_.hashes_from(0, kBlocks)});
  }
  ByteView block_of(std::uint32_t block) const {
    return ByteView(content_).subspan(layout_.start_of(block), layout_.bytes_of(block));
  }
  bulk::BulkReceiver& receiver() { return *transfer_->engines().receiver; }
  void hear(std::uint32_t block) {
    for (std::uint32_t esi = 0; esi < kSymbols; ++esi) {
      const ByteView bytes = block_of(block).subspan(esi * kSymbolBytes, kSymbolBytes);
      receiver().handle_symbol(now_, {1, 0, 0, block, esi, bulk::crc32c(bytes), bytes}, 1);
    }
    pump();
  }
  void pump() {
    for (int i = 0; i < 4; ++i) transfer_->pump(now_ += 1s);
  }
  void spoil(std::uint32_t block) { ++disk_->bytes[layout_.start_of(block) + 77]; }
  /// The symbols that it gives to somebody who has nothing.
  std::size_t give() {
    bulk::BulkHolder& holder = *transfer_->engines().holder;
    holder.handle_need(1, {});
    holder.handle_grant(1, 1'000);
    std::size_t given = 0;
    for (int i = 0; i < 10 && transfer_->engines().holder != nullptr; ++i) {
      for (; holder.next_symbol(); ++given) continue;
      pump();
    }
    return given;
  }

  test::BulkHost host_;
  const bulk::ContentLayout layout_{kSymbols * kSymbolBytes, kSymbolBytes, kBlocks* kSymbols* kSymbolBytes};
  const Bytes content_ = test::content_of(1, layout_.size);
  const std::shared_ptr<Disk> disk_ = std::make_shared<Disk>(layout_.size);
  std::shared_ptr<BulkTransfer> transfer_;
  bulk::BlockIndex index_;
  Nanoseconds now_ = std::chrono::steady_clock::now().time_since_epoch() + 1s;
};

TEST_F(BulkBadBlocks, AreFetchedAnewWhileTheContentIsUnderWay) {
  hear(0);
  hear(1);
  spoil(1);
  EXPECT_EQ(give(), kSymbols) << "of the other block";
  EXPECT_FALSE(receiver().written().contains(1));
  const auto need = receiver().take_need(now_);
  ASSERT_TRUE(need);
  EXPECT_TRUE(need->lost);
  EXPECT_EQ(need->complete, bulk::BlockSet::of_first(1));
  hear(1);
  EXPECT_EQ(give(), 2 * kSymbols);
  hear(2);
  transfer_->handle_seal(now_, layout_.size, *index_.root(kBlocks, host_.hasher()));
  pump();
  EXPECT_EQ(disk_->bytes, content_);
  EXPECT_EQ(host_.outcomes.back(), BulkOutcome::done);
}

/// Who is killed then fetches them again, too, and does not take for whole what is there of them.
TEST_F(BulkBadBlocks, AreNamedByNoStateWhenTheirPlacesAreWritten) {
  hear(0);
  hear(1);
  ASSERT_TRUE(disk_->saved && disk_->saved->written.contains(1));
  for (const bool has_room : {true, false}) {
    SCOPED_TRACE(has_room);
    disk_->has_no_room_for_state = !has_room;
    spoil(1);
    give();
    ASSERT_FALSE(receiver().written().contains(1));
    EXPECT_EQ(disk_->saved.has_value(), has_room) << "without room for the new state the former one goes";
    if (has_room) {
      EXPECT_EQ(disk_->saved->written, receiver().written());
    }
    hear(1);
    EXPECT_EQ(disk_->written_over, std::vector<std::uint32_t>());
    EXPECT_TRUE(receiver().written().contains(1));
  }
  disk_->has_no_room_for_state = false;
  pump();
  ASSERT_TRUE(disk_->saved);
  EXPECT_EQ(disk_->saved->written, bulk::BlockSet::of_first(2));
}

TEST_F(BulkBadBlocks, OfABadDiskAreGivenUp) {
  int times = 0;
  for (; times < 100 && transfer_->engines().holder != nullptr; ++times) {
    hear(0);
    spoil(0);
    EXPECT_EQ(give(), 0u);
    EXPECT_FALSE(receiver().written().contains(0));
  }
  EXPECT_EQ(times, 8);
  for (std::uint32_t block = 0; block < kBlocks; ++block) hear(block);
  transfer_->handle_seal(now_, layout_.size, *index_.root(kBlocks, host_.hasher()));
  pump();
  EXPECT_EQ(disk_->bytes, content_) << "it gets everything itself";
  EXPECT_EQ(host_.outcomes.back(), BulkOutcome::kept);
}

TEST_F(BulkBadBlocks, OfAFileThatIsWholeEndItsServing) {
  for (std::uint32_t block = 0; block < kBlocks; ++block) hear(block);
  transfer_->handle_seal(now_, layout_.size, *index_.root(kBlocks, host_.hasher()));
  pump();
  EXPECT_EQ(host_.outcomes.back(), BulkOutcome::done);
  spoil(0);  // its owner has changed it
  const Bytes changed = disk_->bytes;
  EXPECT_EQ(give(), 0u);
  EXPECT_EQ(host_.outcomes.back(), BulkOutcome::kept);
  EXPECT_EQ(transfer_->engines().holder, nullptr);
  EXPECT_FALSE(receiver().take_need(now_)->serves);
  hear(0);
  EXPECT_EQ(disk_->bytes, changed);
}

}  // namespace
}  // namespace spindle
