// What kernels for the instructions of a processor have in common.
#pragma once

#include <array>
#include <vector>

#include "libclient/codes/gf256.h"
#include "libclient/codes/row_kernels.h"

namespace spindle::codes {

/// Those of this kind of processor, the slower ones first; whether the one that runs has them, `is_usable` says.
void append_processor_kernels(std::vector<RowKernels>& kernels);

/// Products of a factor with the lower and with the upper half of an octet.
struct NibbleProducts {
  std::uint8_t of(std::uint8_t octet) const { return low[octet & 15] ^ high[octet >> 4]; }

  alignas(16) std::uint8_t low[16];
  alignas(16) std::uint8_t high[16];
};

constexpr std::array<NibbleProducts, 256> make_nibble_products() {
  std::array<NibbleProducts, 256> products{};
  for (unsigned factor = 0; factor < 256; ++factor) {
    for (unsigned i = 0; i < 16; ++i) {
      const auto octet = static_cast<std::uint8_t>(factor);
      products[factor].low[i] = gf256::multiply(octet, static_cast<std::uint8_t>(i));
      products[factor].high[i] = gf256::multiply(octet, static_cast<std::uint8_t>(i << 4));
    }
  }
  return products;
}
/// By factor.
inline constexpr std::array<NibbleProducts, 256> kNibbleProducts = make_nibble_products();

// The last octets of rows, from `at` on, which do not fill a register.

inline void sum_rest(std::uint8_t* to, RowArray rows, std::span<const std::uint32_t> numbers, std::size_t at,
                     std::size_t bytes) {
  for (; at < bytes; ++at) {
    std::uint8_t sum = 0;
    for (const std::uint32_t number : numbers) sum ^= rows.at(number)[at];
    to[at] = sum;
  }
}

inline void add_multiple_rest(std::uint8_t* to, const std::uint8_t* from, std::size_t at, std::size_t bytes,
                              std::uint8_t factor) {
  const NibbleProducts& products = kNibbleProducts[factor];
  for (; at < bytes; ++at) to[at] ^= products.of(from[at]);
}

inline void multiply_rest(std::uint8_t* row, std::size_t at, std::size_t bytes, std::uint8_t factor) {
  const NibbleProducts& products = kNibbleProducts[factor];
  for (; at < bytes; ++at) row[at] = products.of(row[at]);
}

inline void accumulate_rest(std::uint8_t* row, const std::uint8_t* more, std::uint8_t* a, std::uint8_t* b,
                            std::size_t at, std::size_t bytes, std::uint8_t factor) {
  const NibbleProducts& products = kNibbleProducts[factor];
  for (; at < bytes; ++at) {
    row[at] = products.of(row[at]) ^ more[at];
    a[at] ^= row[at];
    b[at] ^= row[at];
  }
}

}  // namespace spindle::codes
