// A receiver that gets nothing says so once, and again only after something has come.
#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <vector>

#include "libclient/bulk/crc32c.h"
#include "libclient/src/bulk_transfer.h"
#include "tests/unit/client_bulk_host.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using bulk::Nanoseconds;

const bulk::BulkChannelId kChannel{"alpha", 7, 8};
constexpr std::uint64_t kSymbolBytes = 1'024;
constexpr std::uint64_t kBytes = 100 * kSymbolBytes;

class BulkStalls : public testing::Test {
 protected:
  using Kinds = std::vector<EventKind>;

  void accept(std::uint64_t size, std::shared_ptr<BulkStore> store = make_received_bytes()) {
    transfer_ = std::make_shared<BulkTransfer>(
        host_, BulkTransfer::Acceptance{kChannel, *bulk::ContentLayout::of(size), {}, std::move(store), true});
    transfer_->start();
    pump(0s);
    EXPECT_EQ(host_.take_kinds(), Kinds());
  }
  void pump(Nanoseconds later) {
    now_ += later;
    transfer_->pump(now_);
  }
  /// The next source symbol of the first block.
  void hear() {
    const std::vector<std::uint8_t> bytes(transfer_->layout().symbol_bytes, 5);
    const bulk::Symbol symbol{1, 0, 0, 0, next_++, bulk::crc32c(bytes), bytes};
    transfer_->engines().receiver->handle_symbol(now_, symbol, 1);
  }

  /// The hash of the first block, which is the only one.
  void hear_hash() {
    const bulk::BlockHash hash = host_.hasher().hash(std::vector<std::uint8_t>(transfer_->layout().size, 5));
    transfer_->engines().receiver->handle_index(now_, {1, 0, hash});
  }

  test::BulkHost host_;
  std::shared_ptr<BulkTransfer> transfer_;
  Nanoseconds now_ = std::chrono::steady_clock::now().time_since_epoch() + 1s;
  std::uint32_t next_ = 0;
};

TEST_F(BulkStalls, AreToldOnceWhenTheyAreDue) {
  accept(kBytes);
  EXPECT_EQ(transfer_->due(), now_ + 10s);
  pump(10s - 1ns);
  EXPECT_EQ(host_.take_kinds(), Kinds());
  pump(1ns);
  EXPECT_EQ(host_.take_kinds(), Kinds{EventKind::bulk_stalled});
  EXPECT_EQ(transfer_->due(), std::nullopt);
  pump(60s);
  EXPECT_EQ(host_.take_kinds(), Kinds());
}

TEST_F(BulkStalls, AreOverWithTheNextProgress) {
  accept(kBytes);
  for (int i = 0; i < 2; ++i) {
    pump(10s);
    EXPECT_EQ(host_.take_kinds(), Kinds{EventKind::bulk_stalled});
    hear();
    pump(1s);
    EXPECT_EQ(host_.take_kinds(), Kinds{EventKind::bulk_progress});
  }
}

TEST_F(BulkStalls, AreNoneWhileSomethingComes) {
  accept(kBytes);
  for (int i = 0; i < 5; ++i) {
    hear();
    pump(9s);
  }
  EXPECT_EQ(host_.take_kinds(), Kinds());
}

TEST_F(BulkStalls, AreNoneOfAStreamWhoseSourceHasNoMore) {
  accept(bulk::kSizeUnknown, make_received_stream([](std::span<const std::uint8_t>) { return true; }, "/tmp"));
  pump(60s);
  EXPECT_EQ(host_.take_kinds(), Kinds());
}

TEST_F(BulkStalls, AreNoneWhereAllIsThereButTheSeal) {
  accept(kSymbolBytes);
  hear();
  hear_hash();
  pump(1s);
  pump(1s);
  EXPECT_EQ(transfer_->engines().receiver->written().count(), 1u);
  host_.take_kinds();
  pump(60s);
  pump(60s);
  EXPECT_EQ(host_.take_kinds(), Kinds());
}

TEST_F(BulkStalls, AreNoneWhileTheReceiverIsBusyItself) {
  accept(2 * kSymbolBytes);
  hear();
  hear();
  hear_hash();
  host_.holds_jobs = true;
  pump(1s);
  pump(60s);
  EXPECT_EQ(host_.take_kinds(), Kinds());
  host_.do_jobs();
  pump(60s);
  EXPECT_EQ(host_.take_kinds(), Kinds{EventKind::bulk_progress});
}

}  // namespace
}  // namespace spindle
