// Checksums of symbols, hashes of blocks.
#include "libclient/bulk/block_index.h"

#include <gtest/gtest.h>

#include <numeric>

#include "libclient/bulk/crc32c.h"
#include "libclient/common/hex.h"
#include "tests/support/known_content.h"
#include "tests/support/sha256.h"

namespace spindle::bulk {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Crc32c, HasTheAnswersOfTheRfc) {
  // RFC 3720, appendix B.4, and the check value of the polynomial.
  Bytes ascending(32), descending(32);
  std::iota(ascending.begin(), ascending.end(), std::uint8_t{0});
  std::iota(descending.rbegin(), descending.rend(), std::uint8_t{0});
  const Bytes read_command{0x01, 0xc0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
                           0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0};
  for (const auto crc : {crc32c, crc32c_by_tables}) {
    EXPECT_EQ(crc(Bytes(32, 0), 0), 0x8a9136aau);
    EXPECT_EQ(crc(Bytes(32, 0xff), 0), 0x62a8ab43u);
    EXPECT_EQ(crc(ascending, 0), 0x46dd794eu);
    EXPECT_EQ(crc(descending, 0), 0x113fdb5cu);
    EXPECT_EQ(crc(read_command, 0), 0xd9963a56u);
    EXPECT_EQ(crc(as_bytes("123456789"), 0), 0xe3069283u);
    EXPECT_EQ(crc({}, 0), 0u);
  }
}

TEST(Crc32c, IsTheSameInBothWaysAndInParts) {
  const Bytes bytes = test::content_of(1, 300);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const ByteView whole = ByteView(bytes).first(size);
    const std::uint32_t crc = crc32c(whole);
    ASSERT_EQ(crc, crc32c_by_tables(whole)) << size;
    ASSERT_EQ(crc, crc32c(whole.subspan(size / 3), crc32c(whole.first(size / 3)))) << size;
  }
}

BlockHash hash_of(std::uint8_t octet) {
  BlockHash hash;
  hash.fill(octet);
  return hash;
}

TEST(BlockIndexes, KnowWhatTheyWereTold) {
  BlockIndex index;
  EXPECT_EQ(index.find(0), nullptr);
  index.set(3, hash_of(3));
  index.set(1, hash_of(1));
  index.set(2, hash_of(9));
  index.set(2, hash_of(2));
  index.set(kBlocksMax, hash_of(4));
  EXPECT_EQ(index.find(0), nullptr);
  EXPECT_EQ(*index.find(2), hash_of(2));
  EXPECT_EQ(index.known().count(), 3u);
  EXPECT_TRUE(index.hashes_from(0, 9).empty());
  EXPECT_TRUE(index.hashes_from(UINT32_MAX, 9).empty());
  EXPECT_EQ(index.hashes_from(2, 9).size(), 64u);
  EXPECT_EQ(index.hashes_from(2, 1).size(), 32u);
  EXPECT_EQ(index.hashes_from(2, 9)[32], 3u);
  index.forget(3);
  EXPECT_EQ(index.find(3), nullptr);
  index.clear();
  EXPECT_TRUE(index.known().empty());
}

TEST(BlockIndexes, HaveARoot) {
  const test::Sha256 sha256;
  BlockIndex index;
  EXPECT_EQ(to_hex(index.root(0, sha256).value()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
      << "of a content without blocks";
  EXPECT_FALSE(index.root(1, sha256));
  index.set(0, sha256.hash(as_bytes("abc")));
  EXPECT_EQ(to_hex(*index.find(0)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(index.root(1, sha256), sha256.hash(*index.find(0)));
  index.set(2, hash_of(2));
  EXPECT_FALSE(index.root(3, sha256));
}

}  // namespace
}  // namespace spindle::bulk
