// How large the blocks of a content may be that somebody offers.
#include <gtest/gtest.h>

#include <memory>

#include "libclient/src/bulk_transfer.h"
#include "tests/unit/client_bulk_host.h"

namespace spindle {
namespace {

using protocol::BulkOutcome;

constexpr std::uint32_t kMiB = 1u << 20;

BulkOutcome outcome_of(const bulk::ContentLayout& layout) {
  EXPECT_TRUE(layout.is_valid()) << "daemons pass it on";
  test::BulkHost host;
  const auto sink = make_received_stream([](ByteView) { return true; }, "/tmp");
  std::make_shared<BulkTransfer>(host, BulkTransfer::Acceptance{{"alpha", 7, 8}, layout, {}, sink, false})->start();
  return host.outcomes.back();
}

TEST(BulkOfferedBlocks, AreTakenUpToAMultipleOfWhatIsUsual) {
  EXPECT_EQ(outcome_of({64 * kMiB, 32u << 10, bulk::kSizeUnknown}), BulkOutcome::accepted);
  EXPECT_EQ(outcome_of({64 * kMiB, 32u << 10, 100'000}), BulkOutcome::accepted);
  EXPECT_EQ(outcome_of({72 * kMiB, 32u << 10, bulk::kSizeUnknown}), BulkOutcome::failed);
  EXPECT_EQ(outcome_of({72 * kMiB, 32u << 10, 100'000}), BulkOutcome::failed);
  constexpr std::uint32_t kLargest = bulk::kSymbolsPerBlockMax * bulk::kSymbolBytesMax;
  EXPECT_EQ(outcome_of({kLargest, 32u << 10, bulk::kSizeUnknown}), BulkOutcome::failed);
}

TEST(BulkOfferedBlocks, OfTheLargestContentsAreTaken) {
  EXPECT_EQ(outcome_of(*bulk::ContentLayout::of(bulk::kContentBytesMax)), BulkOutcome::accepted);
}

}  // namespace
}  // namespace spindle
