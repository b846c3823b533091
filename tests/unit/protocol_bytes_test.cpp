#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "libclient/common/framing.h"

namespace spindle::protocol {
namespace {

TEST(ProtocolBytes, IntegersAreLittleEndian) {
  std::uint8_t bytes[18];
  Writer writer(bytes);
  writer.u8(0x01);
  writer.u16(0x0203);
  writer.u24(0x040506);
  writer.u32(0x0708090a);
  writer.u64(0x0b0c0d0e0f101112);
  ASSERT_EQ(writer.size(), sizeof bytes);
  const std::vector<std::uint8_t> expected{0x01, 0x03, 0x02, 0x06, 0x05, 0x04, 0x0a, 0x09, 0x08,
                                           0x07, 0x12, 0x11, 0x10, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b};
  EXPECT_EQ(std::vector<std::uint8_t>(bytes, bytes + sizeof bytes), expected);
  Reader reader(bytes);
  EXPECT_EQ(reader.u8(), 0x01u);
  EXPECT_EQ(reader.u16(), 0x0203u);
  EXPECT_EQ(reader.u24(), 0x040506u);
  EXPECT_EQ(reader.u32(), 0x0708090au);
  EXPECT_EQ(reader.u64(), 0x0b0c0d0e0f101112u);
  EXPECT_TRUE(reader.done());
}

TEST(ProtocolBytes, VarintsOfEveryLengthComeBack) {
  std::mt19937_64 random(1);
  for (int bits = 0; bits <= 64; ++bits) {
    for (int round = 0; round < 20; ++round) {
      const std::uint64_t value = bits == 0 ? 0 : random() >> (64 - bits);
      std::uint8_t bytes[kVarintBytesMax];
      Writer writer(bytes);
      writer.varint(value);
      ASSERT_EQ(writer.size(), varint_size(value));
      Reader reader(ByteView(bytes, writer.size()));
      EXPECT_EQ(reader.varint(), value);
      EXPECT_TRUE(reader.done());
      Reader cut(ByteView(bytes, writer.size() - 1));
      EXPECT_EQ(cut.varint(), 0u);
      EXPECT_FALSE(cut.ok());
    }
  }
}

TEST(ProtocolBytes, VarintsBeyond64BitsAreRefused) {
  std::vector<std::uint8_t> bytes(9, 0xff);
  bytes.push_back(0x02);
  Reader reader(bytes);
  EXPECT_EQ(reader.varint(), 0u);
  EXPECT_FALSE(reader.ok());
  bytes.back() = 0x01;
  Reader largest(bytes);
  EXPECT_EQ(largest.varint(), UINT64_MAX);
  EXPECT_TRUE(largest.done());
}

TEST(ProtocolBytes, AReaderThatFailedGivesNothingMore) {
  const std::uint8_t bytes[] = {5, 'a', 'b', 'c'};
  Reader reader(bytes);
  EXPECT_EQ(reader.short_string(), "");
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0u);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_FALSE(reader.done());
}

TEST(ProtocolBytes, LimitsOfVarintsHold) {
  const std::uint8_t bytes[] = {10};
  EXPECT_EQ(Reader(bytes).varint_up_to(10), 10u);
  Reader reader(bytes);
  EXPECT_EQ(reader.varint_up_to(9), 0u);
  EXPECT_FALSE(reader.ok());
}

TEST(ProtocolFraming, AHeadNeedsFourBytes) {
  std::uint8_t bytes[kFrameHeadBytes];
  Writer writer(bytes);
  write_frame_head(writer, 7, kFrameLengthMax);
  for (std::size_t size = 0; size < kFrameHeadBytes; ++size) EXPECT_FALSE(read_frame_head(ByteView(bytes, size)));
  const auto head = read_frame_head(bytes);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->length, kFrameLengthMax);
  EXPECT_EQ(head->type, 7u);
}

}  // namespace
}  // namespace spindle::protocol
