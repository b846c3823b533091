// Memory of blocks at a client.
#include "libclient/src/block_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace spindle {
namespace {

constexpr std::size_t kBytes = 4u << 20;

TEST(BlockPool, GivesMemoryAgain) {
  const auto pool = std::make_shared<BlockPool>();
  bulk::BlockBytes other = bulk::take_block(pool, kBytes);
  const std::uint8_t* const first = bulk::take_block(pool, kBytes).get();
  bulk::BlockBytes smaller = bulk::take_block(pool, 1000);
  smaller[999] = 1;
  EXPECT_NE(smaller.get(), first);
  bulk::BlockBytes again = bulk::take_block(pool, kBytes);
  EXPECT_EQ(again.get(), first);
  EXPECT_NE(other.get(), first);
  again[kBytes - 1] = other[kBytes - 1] = 1;
}

TEST(BlockPool, KeepsNoMoreThanItMay) {
  const auto pool = std::make_shared<BlockPool>();
  std::vector<bulk::BlockBytes> blocks;
  for (int i = 0; i < 12; ++i) blocks.push_back(bulk::take_block(pool, kBytes));
  EXPECT_EQ(pool->free_bytes(), 0U);
  blocks.resize(1);
  EXPECT_EQ(pool->free_bytes(), 32u << 20);
  blocks.clear();
  EXPECT_EQ(pool->free_bytes(), 16u << 20);
  blocks.push_back(bulk::take_block(pool, kBytes));
  pool->clear();
  EXPECT_EQ(pool->free_bytes(), 0U);
  blocks.clear();
  EXPECT_EQ(pool->free_bytes(), 0U) << "given back after all was cleared";
}

TEST(BlockPool, OutlivesWhoHasMadeIt) {
  bulk::BlockBytes block = bulk::take_block(std::make_shared<BlockPool>(), kBytes);
  block[0] = 1;
}

}  // namespace
}  // namespace spindle
