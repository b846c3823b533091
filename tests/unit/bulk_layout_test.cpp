// How content is cut, sets of blocks, and what receivers lack.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "libclient/bulk/channel_id.h"
#include "libclient/bulk/content_layout.h"
#include "libclient/bulk/need.h"

namespace spindle::bulk {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kKiB = 1u << 10, kMiB = 1u << 20, kGiB = 1u << 30;

template <typename Value>
Bytes written(const Value& value, std::size_t (*size)(const Value&), void (*write)(Writer&, const Value&)) {
  Bytes bytes(size(value));
  Writer writer(bytes.data());
  write(writer, value);
  EXPECT_EQ(writer.size(), bytes.size());
  return bytes;
}

Bytes written(const Need& need) { return written(need, need_size, write_need); }

std::optional<Need> read(const Bytes& bytes) {
  Reader reader(bytes);
  Need need = read_need(reader);
  if (!reader.done()) return std::nullopt;
  return need;
}

TEST(BulkChannelIds, AreWrittenForPeopleAndForFrames) {
  const BulkChannelId id{"alpha", 0x0102, 300};
  EXPECT_EQ(to_string(id), "300@alpha");
  const Bytes bytes = written(id, channel_id_size, write_channel_id);
  EXPECT_EQ(bytes, (Bytes{5, 'a', 'l', 'p', 'h', 'a', 2, 1, 0, 0, 0, 0, 0, 0, 0xac, 2}));
  Reader reader(bytes);
  EXPECT_EQ(read_channel_id(reader), id);
  EXPECT_TRUE(reader.done());
  for (const BulkChannelId& wrong : {BulkChannelId{"alpha", 1, 0}, {"", 1, 1}, {"a b", 1, 1}}) {
    const Bytes wrong_bytes = written(wrong, channel_id_size, write_channel_id);
    Reader wrong_reader(wrong_bytes);
    read_channel_id(wrong_reader);
    EXPECT_FALSE(wrong_reader.ok());
  }
}

struct Cut {
  std::uint64_t size, block_bytes, symbol_bytes;
  std::uint32_t blocks, last_symbols;
};

TEST(ContentLayouts, FollowTheSize) {
  const Cut cuts[] = {
      {0, kMiB, kKiB, 0, 0},
      {1, kMiB, kKiB, 1, 1},
      {kMiB, kMiB, kKiB, 1, 1024},
      {kMiB + 1, 2 * kMiB, 2 * kKiB, 1, 513},
      {4 * kMiB + 1, 8 * kMiB, 8 * kKiB, 1, 513},
      {8 * kMiB - 1, 8 * kMiB, 8 * kKiB, 1, 1024},
      {8 * kMiB, 8 * kMiB, 8 * kKiB, 1, 1024},
      {8 * kMiB + 1, 8 * kMiB, 8 * kKiB, 2, 1},
      {512 * kGiB, 8 * kMiB, 8 * kKiB, 65'536, 1024},
      {512 * kGiB + 1, 16 * kMiB, 16 * kKiB, 32'769, 1},
      {2048 * kGiB + 1, 64 * kMiB, 32 * kKiB, 32'769, 1},
      {65'536 * kGiB, kGiB, 32 * kKiB, 65'536, 32'768},
      {65'536 * kGiB + 1, std::uint64_t{kSymbolsPerBlockMax} * kSymbolBytesMax, 32 * kKiB, 38'074, 52'230},
      {kContentBytesMax, std::uint64_t{kSymbolsPerBlockMax} * kSymbolBytesMax, 32 * kKiB, 65'536, 56'403},
  };
  for (const Cut& cut : cuts) {
    const auto layout = ContentLayout::of(cut.size);
    ASSERT_TRUE(layout) << cut.size;
    EXPECT_TRUE(layout->is_valid());
    EXPECT_EQ(layout->block_bytes, cut.block_bytes) << cut.size;
    EXPECT_EQ(layout->symbol_bytes, cut.symbol_bytes) << cut.size;
    EXPECT_EQ(layout->blocks(), cut.blocks) << cut.size;
    if (cut.blocks == 0) continue;
    const std::uint32_t last = cut.blocks - 1;
    EXPECT_EQ(layout->symbols_of(last), cut.last_symbols) << cut.size;
    EXPECT_EQ(layout->start_of(last) + layout->bytes_of(last), cut.size);
    if (last != 0) {
      EXPECT_EQ(layout->bytes_of(0), layout->block_bytes);
      EXPECT_EQ(layout->symbols_of(0), layout->symbols_of_whole());
    }
    const Bytes bytes = written(*layout, layout_size, write_layout);
    Reader reader(bytes);
    EXPECT_EQ(read_layout(reader), *layout);
    EXPECT_TRUE(reader.done());
  }
  EXPECT_FALSE(ContentLayout::of(kContentBytesMax + 1));
  EXPECT_FALSE(ContentLayout::of(kSizeUnknown - 1));
}

TEST(ContentLayouts, OfStreamsGetTheirSizeWhenTheyAreSealed) {
  const ContentLayout stream = ContentLayout::of(kSizeUnknown).value();
  EXPECT_TRUE(stream.is_valid());
  EXPECT_FALSE(stream.has_size());
  EXPECT_EQ(stream.blocks(), kBlocksMax);
  EXPECT_EQ(stream.bytes_of(kBlocksMax - 1), 8 * kMiB);
  const auto sealed = stream.sealed(3);
  ASSERT_TRUE(sealed);
  EXPECT_EQ(sealed->blocks(), 1u);
  EXPECT_EQ(sealed->symbols_of(0), 1u);
  EXPECT_EQ(sealed->symbol_bytes, stream.symbol_bytes) << "what has been sent stays as it is";
  EXPECT_TRUE(stream.sealed(512 * kGiB));
  EXPECT_FALSE(stream.sealed(512 * kGiB + 1)) << "more blocks than there may be";
  EXPECT_FALSE(stream.sealed(kSizeUnknown));
  EXPECT_EQ(sealed->sealed(3), sealed);
  EXPECT_FALSE(sealed->sealed(4));
}

TEST(ContentLayouts, ThatCannotBeAreRefused) {
  const ContentLayout wrong[] = {
      {0, 1024, 0},
      {1024, 512, 1},
      {1536, 1536, 1},
      {1025, 1024, 1},
      {1024, 0, 1},
      {1024 * 56'404, 1024, 1},
      {1024, 1024, 1024 * 65'536 + 1},
      {8u << 20, 8192, kSizeUnknown - 1},
  };
  for (const ContentLayout& layout : wrong) {
    EXPECT_FALSE(layout.is_valid());
    const Bytes bytes = written(layout, layout_size, write_layout);
    Reader reader(bytes);
    read_layout(reader);
    EXPECT_FALSE(reader.ok());
  }
}

/// A set of numbers beside it, and both have to agree.
class BlockSets : public testing::Test {
 protected:
  static BlockSet set_of(const std::set<std::uint32_t>& numbers) {
    BlockSet set;
    for (const std::uint32_t each : numbers) set.add(each);
    return set;
  }
  static void expect_same(const BlockSet& set, const std::set<std::uint32_t>& model, std::uint32_t bound) {
    ASSERT_EQ(set.count(), model.size());
    std::uint32_t missing = bound, present = kBlocksMax;
    for (std::uint32_t i = bound; i-- > 0;) {
      ASSERT_EQ(set.contains(i), model.contains(i)) << i;
      if (!model.contains(i)) missing = i;
      ASSERT_EQ(set.first_missing(i), missing) << i;
      if (model.contains(i)) present = i;
      ASSERT_EQ(set.first_present(i), present) << i;
    }
    std::uint32_t end = 0;
    for (const BlockSet::Run& run : set.runs()) {
      ASSERT_LT(run.first, run.end);
      if (end != 0) {
        ASSERT_GT(run.first, end) << "runs that touch are one";
      }
      end = run.end;
    }
  }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::mt19937 random_{3};
};

TEST_F(BlockSets, AgreeWithSetsOfNumbers) {
  constexpr std::uint32_t kBound = 60;
  std::set<std::uint32_t> former;
  for (int round = 0; round < 300; ++round) {
    BlockSet set;
    std::set<std::uint32_t> model;
    for (std::uint32_t step = below(30); step > 0; --step) {
      const std::uint32_t first = below(kBound), end = std::min(kBound, first + below(8));
      switch (below(9)) {
        case 0:
        case 1:
          ASSERT_EQ(set.add(first), model.insert(first).second);
          break;
        case 2:
        case 3:
          set.remove(first);
          model.erase(first);
          break;
        case 4:
          set.cut(end);
          model.erase(model.lower_bound(end), model.end());
          break;
        default:
          set.add_run(first, end);
          for (std::uint32_t i = first; i < end; ++i) model.insert(i);
      }
      expect_same(set, model, kBound);
    }
    std::set<std::uint32_t> both, rest, all = former;
    all.insert(model.begin(), model.end());
    std::set_intersection(former.begin(), former.end(), model.begin(), model.end(), std::inserter(both, both.end()));
    expect_same(intersection(set_of(former), set), both, kBound);
    expect_same(united(set_of(former), set), all, kBound);
    std::set_difference(former.begin(), former.end(), model.begin(), model.end(), std::inserter(rest, rest.end()));
    expect_same(difference(set_of(former), set), rest, kBound);
    const std::uint32_t from = below(kBound), end = below(kBound);
    const auto next = rest.lower_bound(from);
    EXPECT_EQ(has_more(set_of(former), set, end, from), next != rest.end() && *next < end);
    const Bytes bytes = written(set, block_set_size, write_block_set);
    Reader reader(bytes);
    ASSERT_EQ(read_block_set(reader), set);
    ASSERT_TRUE(reader.done());
    former = model;
  }
}

TEST_F(BlockSets, TakeNoBlocksThatCannotBe) {
  BlockSet set;
  set.add_run(kBlocksMax - 1, UINT32_MAX);
  EXPECT_EQ(set.count(), 1u);
  set.add_run(kBlocksMax, kBlocksMax + 1);
  EXPECT_EQ(set.count(), 1u);
  EXPECT_FALSE(set.contains(UINT32_MAX));
  set.remove(UINT32_MAX);
  EXPECT_EQ(BlockSet::of_first(kBlocksMax).first_missing(), kBlocksMax);
  EXPECT_TRUE(BlockSet::of_first(0).empty());
}

TEST_F(BlockSets, ThatAreMalformedAreRefused) {
  const Bytes wrong[] = {
      {},
      {1},
      {1, 0},
      {1, 0, 0},                 // an empty run
      {2, 0, 1, 0, 1},           // two that touch
      {1, 0, 0x81, 0x80, 0x04},  // 65,537 blocks
      {1, 0x80, 0x80, 0x04, 1},  // the block 65,536
      {0x81, 0x80, 0x02},        // 32,769 runs
      {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1},
  };
  for (const Bytes& bytes : wrong) {
    Reader reader(bytes);
    read_block_set(reader);
    EXPECT_FALSE(reader.ok());
  }
}

TEST(Needs, HaveWorkedBytes) {
  Need need;
  need.complete.add_run(0, 200);
  need.complete.add_run(203, 204);
  need.begun = {{201, 5}, {202, 1000}, {210, 1}};
  need.serves = true;
  const Bytes bytes = written(need);
  EXPECT_EQ(bytes, (Bytes{1, 0, 2, 0, 0xc8, 1, 3, 1, 3, 0xc9, 1, 5, 0, 0xe8, 7, 7, 1}));
  EXPECT_EQ(read(bytes), need);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  EXPECT_EQ(need.held_of(202), 1000u);
  EXPECT_EQ(need.held_of(203), 0u);
}

TEST(Needs, ThatAreMalformedAreRefused) {
  const Bytes wrong[] = {
      {32, 0, 0, 0},                            // a flag that is not known
      {0, 0, 0, 1, 0, 0},                       // begun, and nothing held
      {0, 0, 1, 0, 2, 1, 1, 3},                 // begun, and complete
      {0, 0, 0, 1, 0x80, 0x80, 0x04, 1},        // the block 65,536
      {0, 0, 0, 2, 0xff, 0xff, 0x03, 1, 0, 1},  // the one behind 65,535
      {0, 0, 0, 1, 0, 0x81, 0x80, 0x80, 0x08},  // more symbols than there are
      {0, 0, 0, 2, 0, 1},                       // fewer than it says
  };
  for (const Bytes& bytes : wrong) EXPECT_FALSE(read(bytes));
  Bytes many{0, 0, 0, 0x81, 0x20};  // 4,097 begun ones
  many.resize(many.size() + 2 * (kBegunBlocksMax + 1), 1);
  EXPECT_FALSE(read(many));
}

TEST(Needs, LeaveOutWhatIsTooMuch) {
  Need need;
  for (std::uint32_t i = 0; i < kBlocksMax; ++i) need.begun.push_back({i, 7});
  const auto again = read(written(need));
  ASSERT_TRUE(again);
  need.begun.resize(kBegunBlocksMax);
  EXPECT_EQ(again, need);
}

TEST(Needs, OfSeveralAreMerged) {
  std::mt19937 random(11);
  const auto draw = [&] {
    Need need;
    for (std::uint32_t block = 0; block < 40; ++block) {
      const auto kind = random() % 3;
      if (kind == 0) need.complete.add(block);
      if (kind == 1) need.begun.push_back({block, static_cast<std::uint32_t>(1 + random() % 9)});
    }
    need.serves = random() % 2 == 0;
    return need;
  };
  for (int round = 0; round < 200; ++round) {
    const Need a = draw(), b = draw(), both = merged(a, b);
    EXPECT_EQ(both, merged(b, a));
    EXPECT_EQ(read(written(both)), both);
    EXPECT_EQ(both.serves, a.serves || b.serves);
    const auto held = [](const Need& need, std::uint32_t block) {
      return need.complete.contains(block) ? 1000 : need.held_of(block);
    };
    for (std::uint32_t block = 0; block < 40; ++block) {
      EXPECT_EQ(held(both, block), std::min(held(a, block), held(b, block))) << block;
    }
  }
}

}  // namespace
}  // namespace spindle::bulk
