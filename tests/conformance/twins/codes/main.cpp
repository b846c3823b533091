// Writes down encoding symbols of random blocks, for clients that have RaptorQ in a language of their own to make the
// same: bindings/java/src/test/java/io/spindle/codes/CodesTwinTest.java.
//
//   codes_record SEED COUNT
//
// A line "block K T SEED" is a block of K source symbols of T bytes, whose content is that of
// tests/support/known_content.h; the lines "ESI BYTES" behind it are its symbols, in hexadecimal.
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "libclient/codes/raptorq.h"
#include "tests/support/known_content.h"

namespace {

constexpr char kDigits[] = "0123456789abcdef";

void write_symbol(const spindle::codes::BlockEncoder& encoder, std::uint32_t esi, std::size_t bytes) {
  std::vector<std::uint8_t> symbol(bytes);
  encoder.encode(esi, symbol.data());
  std::cout << esi << ' ';
  for (const std::uint8_t octet : symbol) std::cout << kDigits[octet >> 4] << kDigits[octet & 15];
  std::cout << '\n';
}

void write_block(std::mt19937_64& random, std::uint32_t symbols_max) {
  const auto symbols = static_cast<std::uint32_t>(1 + random() % symbols_max);
  const std::size_t bytes = 1 + random() % 48;
  const std::uint64_t seed = random();
  const std::vector<std::uint8_t> content = spindle::test::content_of(seed, symbols * bytes);
  const spindle::codes::BlockEncoder encoder(spindle::codes::EncodingPlan(symbols), content.data(), bytes);
  std::cout << "block " << symbols << ' ' << bytes << ' ' << seed << '\n';
  constexpr std::uint32_t kSymbols = 12;
  for (std::uint32_t i = 0; i < kSymbols; ++i) write_symbol(encoder, symbols + i, bytes);
  constexpr std::uint32_t kEsis = 1u << 24;
  for (std::uint32_t i = 0; i < kSymbols; ++i) {
    write_symbol(encoder, static_cast<std::uint32_t>(symbols + random() % (kEsis - symbols)), bytes);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::uint64_t first = std::strtoull(arguments[1], nullptr, 10), all = std::strtoull(arguments[2], nullptr, 10);
  std::ios::sync_with_stdio(false);
  for (std::uint64_t seed = first; seed < first + all; ++seed) {
    std::mt19937_64 random(seed);
    // Most have some hundred symbols at most, some several thousand.
    write_block(random, seed % 20 == 0 ? 8'000 : 700);
  }
}
