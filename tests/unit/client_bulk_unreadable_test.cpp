// A receiver on a disk that takes symbols and does not give them back.
#include <gtest/gtest.h>

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

constexpr std::uint32_t kBlocks = 80, kSymbols = 16, kSymbolBytes = 16u << 10;  // 20 MiB: more than stays in memory

class Disk final : public test::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override {
    if (reads_to_fail > 0) {
      --reads_to_fail;
      return false;
    }
    return MemoryStore::read(start, to);
  }

  mutable int reads_to_fail = 0;
};

class BulkUnreadable : public testing::Test {
 protected:
  /// What it hears goes to the disk where it finds no room, as it has no hash to hold a block to yet.
  void SetUp() override {
    transfer_ =
        std::make_shared<BulkTransfer>(host_, BulkTransfer::Acceptance{{"alpha", 7, 8}, layout_, {}, disk_, true});
    transfer_->start();
    host_.holds_jobs = true;
    host_.do_jobs();
    hear();
  }
  void pump() {
    transfer_->pump(now_ += 1ms);
    host_.do_jobs();
  }
  ByteView block_of(std::uint32_t block) const {
    return ByteView(content_).subspan(layout_.start_of(block), layout_.bytes_of(block));
  }
  bulk::BulkReceiver& receiver() { return *transfer_->engines().receiver; }
  void hear() {
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      for (std::uint32_t esi = 0; esi < kSymbols; ++esi) {
        const ByteView bytes = block_of(block).subspan(std::size_t{esi} * kSymbolBytes, kSymbolBytes);
        receiver().handle_symbol(now_, {1, 0, 0, block, esi, bulk::crc32c(bytes), bytes}, 1);
      }
      pump();
    }
  }
  void hear_hashes() {
    bulk::BlockIndex index;
    for (std::uint32_t block = 0; block < kBlocks; ++block) index.set(block, host_.hasher().hash(block_of(block)));
    receiver().handle_index(now_, {1, 0, index.hashes_from(0, kBlocks)});
    for (std::uint32_t i = 0; i < kBlocks; ++i) pump();
  }

  test::BulkHost host_;
  const bulk::ContentLayout layout_{kSymbols * kSymbolBytes, kSymbolBytes,
                                    std::uint64_t{kBlocks} * kSymbols* kSymbolBytes};
  const Bytes content_ = test::content_of(1, layout_.size);
  const std::shared_ptr<Disk> disk_ = std::make_shared<Disk>(layout_.size);
  std::shared_ptr<BulkTransfer> transfer_;
  Nanoseconds now_ = std::chrono::steady_clock::now().time_since_epoch() + 1s;
};

TEST_F(BulkUnreadable, SymbolsAreFetchedAnew) {
  disk_->reads_to_fail = 7;
  hear_hashes();
  EXPECT_EQ(receiver().written().count(), kBlocks - 7);
  EXPECT_TRUE(receiver().take_need(now_ += 1s)->lost);
  hear();
  EXPECT_EQ(receiver().written().count(), kBlocks);
  EXPECT_EQ(disk_->bytes, content_);
}

TEST_F(BulkUnreadable, SymbolsAreNotFetchedAnewForEver) {
  disk_->reads_to_fail = 8;
  hear_hashes();
  EXPECT_EQ(host_.outcomes.back(), BulkOutcome::failed);
  EXPECT_EQ(transfer_->engines().receiver, nullptr);
}

}  // namespace
}  // namespace spindle
