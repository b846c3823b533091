// What all codes of bulk channels have in common, and what each has beside that.
#include "libclient/codes/erasure_code.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "libclient/codes/counting_code.h"
#include "libclient/codes/raptorq_code.h"
#include "tests/support/known_content.h"
#include "tests/support/repeating_code.h"

namespace spindle::codes {
namespace {

using test::content_of;
using test::RepeatingCode;
using Bytes = std::vector<std::uint8_t>;

constexpr BlockShape kShape{.source_symbols = 20, .symbol_bytes = 7};

/// A block of a code on its way from an encoder to a decoder.
struct Transfer {
  Transfer(const ErasureCode& code, const BlockShape& shape, std::uint64_t seed = 1)
      : content(content_of(seed, shape.bytes())),
        encoder(code.make_encoder(shape)),
        decoder(code.make_decoder(shape)),
        symbol(shape.symbol_bytes) {
    encoder->load(content.data());
  }
  bool give(std::uint32_t esi) {
    encoder->encode(esi, symbol.data());
    return decoder->add(esi, symbol.data());
  }
  void give(std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t esi = first; esi < end; ++esi) give(esi);
  }
  Bytes decoded() {
    Bytes result(content.size());
    EXPECT_TRUE(decoder->decode(result.data()));
    return result;
  }

  Bytes content;
  std::unique_ptr<ErasureEncoder> encoder;
  std::unique_ptr<ErasureDecoder> decoder;
  Bytes symbol;
};

struct Named {
  std::string name;
  std::shared_ptr<const ErasureCode> code;
};

class ErasureCodeTest : public testing::TestWithParam<Named> {
 protected:
  const ErasureCode& code() const { return *GetParam().code; }
};

TEST_P(ErasureCodeTest, SourceSymbolsGiveTheBlock) {
  Transfer transfer(code(), kShape);
  EXPECT_EQ(transfer.decoder->shape(), kShape);
  for (std::uint32_t esi = kShape.source_symbols; esi-- > 0;) {
    EXPECT_EQ(transfer.decoder->symbols(), kShape.source_symbols - 1 - esi);
    EXPECT_FALSE(transfer.decoder->is_decodable());
    EXPECT_FALSE(transfer.decoder->decode(nullptr)) << "which is not touched";
    EXPECT_TRUE(transfer.give(esi));
  }
  EXPECT_TRUE(transfer.decoder->is_decodable());
  transfer.decoded();
  EXPECT_TRUE(transfer.decoder->is_decodable());
}

TEST_P(ErasureCodeTest, ASymbolCountsOnce) {
  Transfer transfer(code(), kShape);
  EXPECT_TRUE(transfer.give(3));
  EXPECT_TRUE(transfer.give(103));
  EXPECT_FALSE(transfer.give(3));
  EXPECT_FALSE(transfer.give(103));
  EXPECT_EQ(transfer.decoder->symbols(), 2u);
}

TEST_P(ErasureCodeTest, EnoughOfAnySymbolsDo) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    Transfer transfer(code(), kShape, random());
    Bytes content(kShape.bytes());
    while (!transfer.decoder->decode(content.data())) {
      transfer.give(static_cast<std::uint32_t>(random() % (1u << 24)));
      ASSERT_LT(transfer.decoder->symbols(), 500u);
    }
    EXPECT_GE(transfer.decoder->symbols(), kShape.source_symbols);
  }
}

TEST_P(ErasureCodeTest, AFailureWantsMoreSymbols) {
  // Each is tried with other symbols until they do not suffice.
  for (std::uint32_t first = 100; first < 100'000; first += 100) {
    Transfer transfer(code(), {.source_symbols = 10, .symbol_bytes = 1});
    Bytes content(10);
    // Of these, two are the same source symbol to the code that repeats.
    transfer.give(first, first + 9);
    transfer.give(first + 10);
    ASSERT_TRUE(transfer.decoder->is_decodable());
    if (transfer.decoder->decode(content.data())) continue;
    EXPECT_FALSE(transfer.decoder->is_decodable());
    EXPECT_FALSE(transfer.give(first + 10));
    EXPECT_FALSE(transfer.decoder->is_decodable());
    EXPECT_TRUE(transfer.give(first + 9));
    EXPECT_TRUE(transfer.decoder->is_decodable());
    return;
  }
  FAIL() << "no symbols that do not suffice";
}

TEST_P(ErasureCodeTest, ADecoderThatForgotIsAsNew) {
  Transfer transfer(code(), kShape);
  transfer.give(5, 30);
  const std::size_t memory = transfer.decoder->memory_bytes();
  transfer.decoder->clear();
  EXPECT_EQ(transfer.decoder->symbols(), 0u);
  EXPECT_FALSE(transfer.decoder->is_decodable());
  transfer.give(0, kShape.source_symbols);
  transfer.decoded();
  EXPECT_LE(transfer.decoder->memory_bytes(), memory);
}

TEST_P(ErasureCodeTest, MakesSmallestBlocks) {
  Transfer transfer(code(), {.source_symbols = 1, .symbol_bytes = 1});
  EXPECT_TRUE(transfer.give(77));
  EXPECT_TRUE(transfer.decoder->is_decodable());
}

INSTANTIATE_TEST_SUITE_P(, ErasureCodeTest,
                         testing::Values(Named{"RaptorQ", std::make_shared<RaptorQCode>()},
                                         Named{"Counting", std::make_shared<CountingCode>(1)},
                                         Named{"Repeating", std::make_shared<RepeatingCode>()}),
                         [](const auto& test) { return test.param.name; });

TEST(RaptorQCode, GivesTheContent) {
  const RaptorQCode code;
  for (const std::uint32_t symbols : {1u, 10u, 11u, 150u}) {
    Transfer transfer(code, {.source_symbols = symbols, .symbol_bytes = 33}, symbols);
    transfer.give(symbols / 2, symbols / 2 + symbols + 3);
    EXPECT_EQ(transfer.decoded(), transfer.content);
  }
}

TEST(RaptorQCode, AnEncoderGoesOnToAnotherBlock) {
  const RaptorQCode code;
  Transfer transfer(code, kShape);
  const std::size_t memory = transfer.encoder->memory_bytes();
  EXPECT_GE(memory, kShape.bytes());
  transfer.content = content_of(9, kShape.bytes());
  transfer.encoder->load(transfer.content.data());
  transfer.give(1000, 1000 + kShape.source_symbols + 3);
  EXPECT_EQ(transfer.decoded(), transfer.content);
  EXPECT_EQ(transfer.encoder->memory_bytes(), memory);
}

TEST(RaptorQCode, SaysWhatSymbolsTake) {
  const RaptorQCode code;
  Transfer transfer(code, {.source_symbols = 100, .symbol_bytes = 1000});
  EXPECT_LE(transfer.decoder->memory_bytes(), 1'000u);
  transfer.give(0, 100);
  EXPECT_GE(transfer.decoder->memory_bytes(), 100'000u);
  EXPECT_LE(transfer.decoder->memory_bytes(), 140'000u);
}

TEST(EncodingPlans, AreKeptWhileTheyAreWanted) {
  EncodingPlans plans(2);
  const auto* ten = &plans.of(10).solution();
  const auto* twenty = &plans.of(20).solution();
  EXPECT_EQ(&plans.of(10).solution(), ten);
  const EncodingPlan held = plans.of(20);
  plans.of(10);
  plans.of(30);  // in the place of 20
  EXPECT_EQ(&plans.of(10).solution(), ten);
  EXPECT_EQ(&held.solution(), twenty) << "who uses one keeps it";
  EXPECT_NE(&plans.of(20).solution(), twenty);
}

TEST(EncodingPlans, ServeSeveralThreads) {
  EncodingPlans plans(3);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&plans, thread] {
      for (std::uint32_t i = 0; i < 50; ++i) {
        const std::uint32_t symbols = 1 + (i * 7 + thread) % 5;
        EXPECT_EQ(plans.of(symbols).code().source_symbols, symbols);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// How many symbols it takes beyond those of the block.
std::size_t more_needed(const CountingCode& code, std::uint32_t first) {
  constexpr BlockShape shape{.source_symbols = 16, .symbol_bytes = 1};
  const auto decoder = code.make_decoder(shape);
  for (std::uint32_t esi = first;; ++esi) {
    decoder->add(esi, nullptr);
    if (decoder->decode(nullptr)) return decoder->symbols() - shape.source_symbols;
  }
}

TEST(CountingCode, FailsAsOftenAsTheRfcHasIt) {
  const CountingCode code(7);
  constexpr std::uint32_t kBlocks = 400'000;
  std::size_t failures[3] = {0, 0, 0};
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    const std::size_t more = more_needed(code, 100 + 20 * block);
    for (std::size_t i = 0; i < 3; ++i) failures[i] += more > i ? 1 : 0;
  }
  // Four standard deviations around 4,000 and 40; of 0.4 expected, three are one run in a hundred.
  EXPECT_NEAR(static_cast<double>(failures[0]), 4'000, 252);
  EXPECT_NEAR(static_cast<double>(failures[1]), 40, 25);
  EXPECT_LE(failures[2], 3u);
}

TEST(CountingCode, TheSameSymbolsDoTheSame) {
  const CountingCode code(7), same(7), other(8);
  int differ = 0;
  for (std::uint32_t block = 0; block < 5'000; ++block) {
    const std::uint32_t first = 100 + 20 * block;
    const std::size_t more = more_needed(code, first);
    EXPECT_EQ(more_needed(same, first), more);
    differ += more_needed(other, first) != more ? 1 : 0;
  }
  EXPECT_GT(differ, 0);
  // In another order.
  constexpr BlockShape shape{.source_symbols = 16, .symbol_bytes = 1};
  for (std::uint32_t block = 0; block < 1'000; ++block) {
    const auto decoder = code.make_decoder(shape);
    const std::uint32_t first = 100 + 20 * block;
    for (std::uint32_t i = 16; i-- > 0;) decoder->add(first + i, nullptr);
    EXPECT_EQ(decoder->decode(nullptr), more_needed(code, first) == 0);
  }
}

TEST(RepeatingCode, ShowsWhichSymbolsItHas) {
  Transfer transfer(RepeatingCode(), {.source_symbols = 3, .symbol_bytes = 2});
  const auto& held = static_cast<RepeatingCode::Decoder&>(*transfer.decoder).held();
  transfer.give(1);
  transfer.give(4);  // the same once more
  transfer.give(9);
  EXPECT_TRUE(transfer.decoder->is_decodable());
  EXPECT_FALSE(transfer.decoder->decode(Bytes(6).data()));
  transfer.give(5);
  EXPECT_EQ(transfer.decoded(), transfer.content);
  EXPECT_EQ(held.size(), 4u);
  EXPECT_EQ(held.at(1), held.at(4));
  EXPECT_EQ(held.at(9), Bytes(transfer.content.begin(), transfer.content.begin() + 2));
}

}  // namespace
}  // namespace spindle::codes
