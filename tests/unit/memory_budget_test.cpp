// What a daemon counts against its limit of memory, and how near it is.
#include "daemon/base/memory_budget.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

class MemoryBudgetTest : public testing::Test {
 protected:
  MemoryBudgetTest() { config_.memory_bytes_max = 100'000'000; }
  void use(std::size_t percent) { memory_.set(MemoryBudget::Use::groups, percent * 1'000'000); }

  NodeConfig config_;
  SlabPool slabs_;
  MemoryBudget memory_{config_, slabs_};
};

TEST_F(MemoryBudgetTest, AddsUpSlabsAndWhatIsTold) {
  EXPECT_EQ(memory_.used(), 0u);
  const SlabRef slab = slabs_.take(1);
  memory_.set(MemoryBudget::Use::groups, 1000);
  memory_.set(MemoryBudget::Use::clients, 500);
  EXPECT_EQ(memory_.used(), SlabPool::kSmallBytes + 1500);
  memory_.set(MemoryBudget::Use::groups, 200);
  EXPECT_EQ(memory_.used(), SlabPool::kSmallBytes + 700);
}

TEST_F(MemoryBudgetTest, SaysHowNearTheLimitIs) {
  use(70);
  EXPECT_DOUBLE_EQ(memory_.allowance(), 1);
  use(75);
  EXPECT_NEAR(memory_.allowance(), 0.8, 1e-9);
  use(85);
  EXPECT_NEAR(memory_.allowance(), 0.4, 1e-9);
  EXPECT_FALSE(memory_.is_short());
  use(86);
  EXPECT_TRUE(memory_.is_short());
  EXPECT_FALSE(memory_.is_full());
  use(95);
  EXPECT_DOUBLE_EQ(memory_.allowance(), 0);
  EXPECT_FALSE(memory_.is_full());
  use(96);
  EXPECT_TRUE(memory_.is_full());
  EXPECT_FALSE(memory_.is_exceeded());
  use(101);
  EXPECT_TRUE(memory_.is_exceeded());
  EXPECT_DOUBLE_EQ(memory_.allowance(), 0);
  config_.memory_bytes_max *= 2;
  EXPECT_FALSE(memory_.is_short()) << "the limit may change while the daemon runs";
}

TEST(MemoryWindow, IsHalfOfTheSmallestForAllDaemons) {
  constexpr std::size_t kMiB = 1u << 20;
  EXPECT_EQ(MemoryBudget::window(256 * kMiB, 1), 128 * kMiB);
  EXPECT_EQ(MemoryBudget::window(256 * kMiB, 4), 32 * kMiB);
  EXPECT_EQ(MemoryBudget::window(64 * kMiB, 1000), kMiB / 4) << "so much in any case";
  EXPECT_EQ(MemoryBudget::window(64 * kMiB, 0), 32 * kMiB) << "before the first view";
}

}  // namespace
}  // namespace spindled
