// Objects, and how they are cut into blocks.
#include "libclient/codes/raptorq_object.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "libclient/codes/raptorq.h"
#include "tests/support/known_content.h"

namespace spindle::codes {
namespace {

using test::content_of;
using test::crc32_of;
using Bytes = std::vector<std::uint8_t>;

TEST(RaptorqPartition, IsAsEvenAsCanBe) {
  for (std::uint64_t total = 0; total < 60; ++total) {
    for (std::uint32_t parts = 1; parts < 12; ++parts) {
      const Partition partition = Partition::of(total, parts);
      ASSERT_EQ(partition.large_count + partition.small_count, parts);
      std::uint64_t at = 0;
      for (std::uint32_t part = 0; part < parts; ++part) {
        ASSERT_EQ(partition.start_of(part), at);
        at += partition.size_of(part);
        ASSERT_LE(partition.size_of(0), partition.size_of(part) + 1);
      }
      ASSERT_EQ(at, total);
    }
  }
}

TEST(RaptorqObject, IsReadAsItWasWritten) {
  const ObjectInformation object{0x123456789au, 0xfff8, 200, 4, 8};
  ASSERT_TRUE(object.is_possible());
  const auto octets = object.write();
  const std::array<std::uint8_t, 12> expected{0x12, 0x34, 0x56, 0x78, 0x9a, 0, 0xff, 0xf8, 200, 0, 4, 8};
  EXPECT_EQ(octets, expected);
  EXPECT_EQ(ObjectInformation::read(octets), object);
}

TEST(RaptorqObject, RefusesWhatNoObjectHas) {
  const ObjectInformation good{100'000, 1280, 3, 2, 8};
  ASSERT_TRUE(good.is_possible());
  const auto refuses = [&](auto change) {
    ObjectInformation object = good;
    change(object);
    return !ObjectInformation::read(object.write());
  };
  EXPECT_TRUE(refuses([](auto& object) { object.bytes = 0; }));
  EXPECT_TRUE(refuses([](auto& object) { object.bytes = ObjectInformation::kObjectBytesMax + 1; }));
  EXPECT_TRUE(refuses([](auto& object) { object.symbol_bytes = 0; }));
  EXPECT_TRUE(refuses([](auto& object) { object.symbol_bytes = 1281; }));
  EXPECT_TRUE(refuses([](auto& object) { object.blocks = 0; }));
  EXPECT_TRUE(refuses([](auto& object) { object.blocks = 80; })) << "more than there are symbols";
  EXPECT_TRUE(refuses([](auto& object) { object.sub_blocks = 0; }));
  EXPECT_TRUE(refuses([](auto& object) { object.sub_blocks = 161; }));
  EXPECT_TRUE(refuses([](auto& object) { object.alignment = 0; }));
  EXPECT_TRUE(refuses([](auto& object) { object.bytes = 1u << 30; })) << "blocks of too many symbols";
}

TEST(RaptorqObject, IsSuggestedForTheMemoryOfAReceiver) {
  std::mt19937_64 random(4);
  int possible = 0;
  for (int round = 0; round < 3'000; ++round) {
    const auto alignment = static_cast<std::uint8_t>(1u << random() % 4);
    const auto symbol_bytes = static_cast<std::uint16_t>(alignment * (1 + random() % 200));
    const std::uint64_t bytes = 1 + random() % (random() % 2 == 0 ? 1'000'000u : 1'000'000'000u);
    const std::uint64_t memory = 1 + random() % 20'000'000;
    const auto part = static_cast<std::uint32_t>(1 + random() % 8);
    const auto object = ObjectInformation::suggest(bytes, symbol_bytes, alignment, memory, part);
    if (!object) continue;
    ++possible;
    ASSERT_TRUE(object->is_possible());
    const Partition blocks = object->block_sizes(), parts = object->part_sizes();
    ASSERT_LE(blocks.large_size * parts.large_size * alignment, memory) << "what is put together at a time";
    ASSERT_TRUE(parts.small_size >= part || object->sub_blocks == 1);
  }
  EXPECT_GT(possible, 1'000);
  EXPECT_FALSE(ObjectInformation::suggest(1'000'000, 1000, 8, 79, 1)) << "not even parts of ten symbols fit";
  EXPECT_FALSE(ObjectInformation::suggest(1'000, 1001, 8, 1'000'000, 1));
}

TEST(RaptorqObject, AgreesWithAnotherImplementation) {
  std::ifstream file(SPINDLE_SOURCE_FOLDER "/tests/unit/known_answers/raptorq_objects.txt");
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    unsigned symbol_bytes = 0, blocks = 0, sub_blocks = 0, alignment = 0;
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0, seen = 0;
    words >> bytes >> symbol_bytes >> blocks >> sub_blocks >> alignment >> std::hex >> crc;
    ASSERT_TRUE(words) << line;
    const ObjectInformation object{bytes, static_cast<std::uint16_t>(symbol_bytes), static_cast<std::uint8_t>(blocks),
                                   static_cast<std::uint16_t>(sub_blocks), static_cast<std::uint8_t>(alignment)};
    ASSERT_TRUE(object.is_possible()) << line;
    Bytes content = content_of(bytes, bytes);
    content.resize(object.symbols() * symbol_bytes);
    const Partition sizes = object.block_sizes();
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const auto symbols = static_cast<std::uint32_t>(sizes.size_of(block));
      const std::uint8_t* start = content.data() + sizes.start_of(block) * symbol_bytes;
      const InterleavedBlock interleaved(object, symbols);
      Bytes gathered(std::size_t{symbols} * symbol_bytes), scattered(gathered.size());
      for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
        std::uint8_t* at = gathered.data() + std::size_t{symbol} * symbol_bytes;
        interleaved.gather(start, symbol, at);
        interleaved.scatter(at, symbol, scattered.data());
      }
      EXPECT_TRUE(std::equal(scattered.begin(), scattered.end(), start));
      const BlockEncoder encoder(EncodingPlan(symbols), gathered.data(), symbol_bytes);
      for (std::uint32_t esi = 0; esi < symbols + 5; ++esi) {
        Bytes packet(4 + symbol_bytes);
        packet[0] = static_cast<std::uint8_t>(block);
        for (unsigned i = 1; i < 4; ++i) packet[i] = static_cast<std::uint8_t>(esi >> (8 * (3 - i)));
        encoder.encode(esi, packet.data() + 4);
        seen = crc32_of(seen, packet);
      }
    }
    EXPECT_EQ(seen, crc) << line;
    ++count;
  }
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace spindle::codes
