#include "libclient/protocol/header_block.h"

#include <gtest/gtest.h>

#include <string>

namespace spindle::protocol {
namespace {

using Block = std::vector<std::uint8_t>;

Block block_of(const Headers& headers, const Header& own = {}) {
  Block block;
  write_header_block(block, own, headers);
  return block;
}

TEST(HeaderBlock, KeepsKeysAndValuesOfAnyBytes) {
  const std::string value("\0\xff$", 3);
  const Block block = block_of({{"a", value}, {"b", ""}, {"a", "second"}}, {kRequestKey, "12345678"});
  EXPECT_EQ(header_block_size(block), block.size());
  EXPECT_EQ(find_header(block, "a"), value);
  EXPECT_EQ(find_header(block, "b"), "");
  EXPECT_EQ(find_header(block, kRequestKey), "12345678");
  EXPECT_FALSE(find_header(block, "c"));
}

TEST(HeaderBlock, IsMeasuredWithWhatFollows) {
  Block block = block_of({{"key", "value"}});
  const std::size_t size = block.size();
  block.insert(block.end(), 1000, 0xff);
  EXPECT_EQ(header_block_size(block), size);
}

TEST(HeaderBlock, AnyCutIsRefused) {
  const Block block = block_of({{"key", "value"}, {"k", "v"}});
  for (std::size_t bytes = 0; bytes < block.size(); ++bytes) {
    EXPECT_EQ(header_block_size(ByteView(block).first(bytes)), 0u) << bytes;
  }
}

TEST(HeaderBlock, RefusesWhatIsNone) {
  EXPECT_EQ(header_block_size(Block{0, 0}), 0u) << "a block without headers";
  EXPECT_EQ(header_block_size(Block{3, 0, 0, 0, 0}), 0u) << "an empty key";
  EXPECT_EQ(header_block_size(Block{4, 0, 1, 'k', 1, 0, 'v'}), 0u) << "a header that is longer than the block";
  EXPECT_EQ(header_block_size(Block{6, 0, 1, 'k', 1, 0, 'v', 1}), 0u) << "a block that ends within a header";
  EXPECT_EQ(header_block_size(Block{5, 0, 1, 'k', 1, 0, 'v'}), 7u);
  Block large(2 + kHeaderBlockBytesMax, 'x');
  large[0] = static_cast<std::uint8_t>(kHeaderBlockBytesMax - 1);
  large[1] = static_cast<std::uint8_t>((kHeaderBlockBytesMax - 1) >> 8);
  large[2] = 1;
  const std::size_t value = kHeaderBlockBytesMax - 1 - 4;
  large[4] = static_cast<std::uint8_t>(value);
  large[5] = static_cast<std::uint8_t>(value >> 8);
  EXPECT_EQ(header_block_size(large), 0u) << "one that is too large";
}

TEST(HeaderBlock, SaysWhatAProgramMaySend) {
  EXPECT_TRUE(are_valid({}));
  EXPECT_TRUE(are_valid({{std::string(255, 'k'), "v"}}));
  EXPECT_FALSE(are_valid({{"", "v"}}));
  EXPECT_FALSE(are_valid({{std::string(256, 'k'), "v"}}));
  EXPECT_FALSE(are_valid({{"$id", "v"}}));
  EXPECT_TRUE(are_valid({{"id$", "v"}}));
  EXPECT_TRUE(are_valid({{"k", std::string(kHeaderBytesMax - 4, 'v')}}));
  EXPECT_FALSE(are_valid({{"k", std::string(kHeaderBytesMax - 3, 'v')}}));
  EXPECT_FALSE(are_valid({{"k", std::string(kHeaderBytesMax / 2, 'v')}, {"k", std::string(kHeaderBytesMax / 2, 'v')}}));
  EXPECT_FALSE(are_valid({{"k", std::string(70'000, 'v')}})) << "longer than its length can say";
}

}  // namespace
}  // namespace spindle::protocol
