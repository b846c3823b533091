// RaptorQ against its definition, against another implementation, and against a dumb model.
#include "libclient/codes/raptorq.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "libclient/codes/gf256.h"
#include "libclient/codes/raptorq_solver.h"
#include "libclient/codes/raptorq_tables.h"
#include "tests/support/known_content.h"

namespace spindle::codes {
namespace {

using test::content_of;
using test::crc32_of;
using Bytes = std::vector<std::uint8_t>;

Bytes symbol_of(const BlockEncoder& encoder, std::uint32_t esi, std::size_t bytes) {
  Bytes symbol(bytes);
  encoder.encode(esi, symbol.data());
  return symbol;
}

/// A block of drawn content with its encoder.
struct Block {
  Block(std::uint32_t symbols, std::size_t symbol_bytes, std::uint64_t seed)
      : bytes(symbol_bytes),
        content(content_of(seed, symbols * symbol_bytes)),
        encoder(EncodingPlan(symbols), content.data(), symbol_bytes) {}
  Bytes symbol(std::uint32_t esi) const { return symbol_of(encoder, esi, bytes); }

  std::size_t bytes;
  Bytes content;
  BlockEncoder encoder;
};

TEST(RaptorqTables, AreThoseOfTheRfc) {
  // Section 5.6: what the parameters have to be, whatever their values.
  std::uint32_t before = 0;
  for (const BlockRow& row : kBlockRows) {
    ASSERT_GT(row.symbols, before);
    before = row.symbols;
    ASSERT_LE(row.systematic_index, 1000u);
    const BlockCode code = BlockCode::of(row.symbols);
    ASSERT_EQ(code.symbols, row.symbols);
    ASSERT_GT(code.lt_only, 0u);
    ASSERT_GE(code.inactive, code.hdpc_symbols);
    for (const std::uint32_t prime : {code.ldpc_symbols, code.lt_symbols, code.inactive_prime}) {
      for (std::uint32_t i = 2; i * i <= prime; ++i) ASSERT_NE(prime % i, 0u) << prime;
    }
  }
  EXPECT_EQ(before, kBlockSymbolsMax);
  // Some of their values; the known answers depend on all of them.
  EXPECT_EQ(kRandomTables[0][0], 251291136u);
  EXPECT_EQ(BlockCode::of(1).symbols, 10u);
  EXPECT_EQ(BlockCode::of(1000).symbols, 1002u);
  EXPECT_EQ(BlockCode::of(1000).systematic_index, 299u);
}

TEST(RaptorqBlock, DegreesFollowTheirTable) {
  EXPECT_EQ(degree(0, 100), 1u);
  EXPECT_EQ(degree(5'242, 100), 1u);
  EXPECT_EQ(degree(5'243, 100), 2u);
  EXPECT_EQ(degree(529'530, 100), 2u);
  EXPECT_EQ(degree(529'531, 100), 3u);
  EXPECT_EQ(degree(1'048'575, 100), 30u);
  EXPECT_EQ(degree(1'048'575, 17), 15u) << "no more than there are, but for two";
}

TEST(RaptorqBlock, EachTermIsThereOnce) {
  for (const std::uint32_t symbols : {1u, 10u, 55u, 1000u, 56403u}) {
    const BlockCode code = BlockCode::of(symbols);
    for (std::uint32_t isi = 0; isi < 3000; ++isi) {
      std::vector<std::uint32_t> terms;
      code.append_terms(isi, terms);
      const std::set<std::uint32_t> distinct(terms.begin(), terms.end());
      ASSERT_EQ(distinct.size(), terms.size());
      ASSERT_LT(*distinct.rbegin(), code.intermediate);
    }
  }
}

TEST(Raptorq, SourceSymbolsAreEncodingSymbols) {
  for (const std::uint32_t symbols : {1u, 2u, 9u, 10u, 11u, 100u, 777u}) {
    const Block block(symbols, 24, symbols);
    for (std::uint32_t esi = 0; esi < symbols; ++esi) {
      const Bytes symbol = block.symbol(esi);
      ASSERT_TRUE(std::equal(symbol.begin(), symbol.end(), block.content.begin() + std::ptrdiff_t{24} * esi));
    }
  }
}

TEST(Raptorq, AgreesWithAnotherImplementation) {
  std::ifstream file(SPINDLE_SOURCE_FOLDER "/tests/unit/known_answers/raptorq.txt");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::uint32_t symbols = 0, esi = 0, crc = 0, seen = 0;
    std::size_t bytes = 0;
    words >> symbols >> bytes >> esi >> std::hex >> crc;
    ASSERT_TRUE(words) << line;
    const Block block(symbols, bytes, symbols);
    for (const std::uint32_t first : {symbols, esi}) {
      for (std::uint32_t i = 0; i < 10; ++i) seen = crc32_of(seen, block.symbol(first + i));
    }
    EXPECT_EQ(seen, crc) << symbols << " symbols of " << bytes << " bytes";
    ++count;
  }
  EXPECT_EQ(count, 40u);
}

TEST(Raptorq, DecodesWhateverIsLost) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t symbols = 1 + static_cast<std::uint32_t>(random() % (round % 10 == 0 ? 1500 : 120));
    const Block block(symbols, 1 + random() % 40, random());
    BlockDecoder decoder(symbols, block.bytes);
    const auto lost_percent = static_cast<unsigned>(random() % 101);
    std::vector<std::uint32_t> esis;
    for (std::uint32_t esi = 0; esi < symbols; ++esi) {
      if (random() % 100 >= lost_percent) esis.push_back(esi);
    }
    const auto first = static_cast<std::uint32_t>(random() % 1'000'000);
    for (std::uint32_t esi = symbols + first; esis.size() < symbols + 3; ++esi) esis.push_back(esi);
    std::shuffle(esis.begin(), esis.end(), random);
    Bytes content(block.content.size());
    for (const std::uint32_t esi : esis) {
      if (decoder.symbols() < symbols) {
        EXPECT_FALSE(decoder.decode(content.data()));
      }
      const Bytes symbol = block.symbol(esi);
      EXPECT_TRUE(decoder.add(esi, symbol.data()));
      EXPECT_FALSE(decoder.add(esi, symbol.data()));
    }
    ASSERT_TRUE(decoder.decode(content.data())) << symbols << " symbols";
    ASSERT_EQ(content, block.content);
  }
}

// Symbols are worked on in stripes, of which the last may be short.
TEST(Raptorq, SymbolsHaveAnySize) {
  for (const std::size_t bytes : {1u, 63u, 64u, 255u, 256u, 257u, 320u, 511u, 1000u, 1280u, 1281u}) {
    const Block block(30, bytes, bytes);
    BlockDecoder decoder(30, bytes);
    for (std::uint32_t esi = 20; esi < 53; ++esi) decoder.add(esi, block.symbol(esi).data());
    Bytes content(block.content.size());
    ASSERT_TRUE(decoder.decode(content.data()));
    ASSERT_EQ(content, block.content) << bytes << " bytes";
    ASSERT_EQ(block.symbol(29), Bytes(content.end() - static_cast<std::ptrdiff_t>(bytes), content.end()));
  }
}

TEST(Raptorq, AnEncoderTakesBlockAfterBlock) {
  const Block other(20, 600, 2);
  BlockEncoder encoder(EncodingPlan(20), content_of(1, 20 * 600).data(), 600);
  encoder.load(other.content.data());
  for (const std::uint32_t esi : {0u, 19u, 20u, 1000u}) EXPECT_EQ(symbol_of(encoder, esi, 600), other.symbol(esi));
}

/// The matrix of section 5.3.3.4.2, written out, and its rank.
class DenseModel {
 public:
  DenseModel(const BlockCode& code, const std::vector<std::uint32_t>& isis) : code_(code) {
    append_ldpc();
    append_hdpc();
    for (const std::uint32_t isi : isis) {
      std::vector<std::uint32_t> terms;
      code.append_terms(isi, terms);
      Bytes& row = add_row();
      for (const std::uint32_t term : terms) row[term] ^= 1;
    }
  }
  bool has_full_rank() {
    std::size_t rank = 0;
    for (std::size_t column = 0; column < code_.intermediate; ++column) {
      std::size_t pivot = rank;
      while (pivot < rows_.size() && rows_[pivot][column] == 0) ++pivot;
      if (pivot == rows_.size()) return false;
      std::swap(rows_[pivot], rows_[rank]);
      for (std::size_t other = rank + 1; other < rows_.size(); ++other) {
        if (rows_[other][column] == 0) continue;
        const std::uint8_t factor = gf256::multiply(rows_[other][column], gf256::invert(rows_[rank][column]));
        for (std::size_t i = column; i < code_.intermediate; ++i) {
          rows_[other][i] ^= gf256::multiply(factor, rows_[rank][i]);
        }
      }
      ++rank;
    }
    return true;
  }

 private:
  Bytes& add_row() { return rows_.emplace_back(code_.intermediate, std::uint8_t{0}); }
  void append_ldpc() {
    const std::uint32_t count = code_.ldpc_symbols;
    const std::size_t first = rows_.size();
    for (std::uint32_t i = 0; i < count; ++i) {
      Bytes& row = add_row();
      row[code_.lt_only + i] ^= 1;
      row[code_.lt_symbols + i % code_.inactive] ^= 1;
      row[code_.lt_symbols + (i + 1) % code_.inactive] ^= 1;
    }
    for (std::uint32_t i = 0; i < code_.lt_only; ++i) {
      const std::uint32_t a = 1 + i / count;
      std::uint32_t b = i % count;
      for (int k = 0; k < 3; ++k, b = (b + a) % count) rows_[first + b][i] ^= 1;
    }
  }
  void append_hdpc() {
    const std::uint32_t columns = code_.symbols + code_.ldpc_symbols, count = code_.hdpc_symbols;
    std::vector<Bytes> mt(count, Bytes(columns, 0));
    for (std::uint32_t j = 0; j + 1 < columns; ++j) {
      const std::uint32_t i = rand_number(j + 1, 6, count);
      mt[i][j] = mt[(i + rand_number(j + 1, 7, count - 1) + 1) % count][j] = 1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      mt[i][columns - 1] = gf256::power(i);
      Bytes& row = add_row();
      for (std::uint32_t j = 0; j < columns; ++j) {
        for (std::uint32_t k = j; k < columns; ++k) row[j] ^= gf256::multiply(mt[i][k], gf256::power(k - j));
      }
      row[columns + i] = 1;
    }
  }

  const BlockCode& code_;
  std::vector<Bytes> rows_;
};

TEST(RaptorqSolver, SolvesWhereTheMatrixHasFullRank) {
  std::mt19937 random(11);
  int failures = 0;
  for (int round = 0; round < 400; ++round) {
    const BlockCode code = BlockCode::of(1 + static_cast<std::uint32_t>(random() % 40));
    std::set<std::uint32_t> drawn;
    // Few different ones, some of them too few: then many matrices do not have it.
    const std::size_t count = code.symbols - (round % 5 == 0 ? 1 : 0) + random() % 2;
    while (drawn.size() < count) drawn.insert(static_cast<std::uint32_t>(random() % 100'000));
    const std::vector<std::uint32_t> isis(drawn.begin(), drawn.end());
    const bool is_solved = solve(code, isis).has_value();
    ASSERT_EQ(is_solved, DenseModel(code, isis).has_full_rank()) << "round " << round;
    failures += is_solved ? 0 : 1;
  }
  EXPECT_GT(failures, 20);
  EXPECT_LT(failures, 120);
}

// Section 5.8 has 1 % and 0.01 %.
TEST(RaptorqSolver, FewSymbolsMoreSuffice) {
  std::mt19937 random(12);
  int failures[2] = {0, 0};
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) {
    const BlockCode code = BlockCode::of(10);
    for (std::size_t more = 0; more < 2; ++more) {
      std::set<std::uint32_t> drawn;
      while (drawn.size() < code.symbols + more) drawn.insert(static_cast<std::uint32_t>(random() % (1u << 24)));
      const std::vector<std::uint32_t> isis(drawn.begin(), drawn.end());
      if (!solve(code, isis)) ++failures[more];
    }
  }
  EXPECT_LE(failures[0], kRounds / 50);
  EXPECT_LE(failures[1], kRounds / 500);
}

TEST(Raptorq, SolvesTheLargestBlock) {
  const Block block(kBlockSymbolsMax, 1, 3);
  const Bytes symbol = block.symbol(56'402);
  EXPECT_EQ(symbol[0], block.content.back());
}

}  // namespace
}  // namespace spindle::codes
