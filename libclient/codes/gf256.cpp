#include "libclient/codes/gf256.h"

#include <cstring>
#include <iterator>

#if defined(__x86_64__)
#include <immintrin.h>
#define SPINDLE_TARGET(features) __attribute__((target(features)))
#endif

namespace spindle::codes {

namespace {

// --- Everywhere ---

/// The sum of the last bytes of all rows, behind `at`.
void sum_rest(std::uint8_t* to, const std::uint8_t* const* from, std::size_t count, std::size_t at, std::size_t bytes) {
  for (; at < bytes; ++at) {
    std::uint8_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum ^= from[i][at];
    to[at] = sum;
  }
}

void sum_words(std::uint8_t* to, const std::uint8_t* const* from, std::size_t count, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, from[i] + at, 8);
      sum ^= word;
    }
    std::memcpy(to + at, &sum, 8);
  }
  sum_rest(to, from, count, at, bytes);
}

/// Products of the factor with the lower and with the upper half of an octet.
struct Nibbles {
  explicit Nibbles(std::uint8_t factor) {
    for (unsigned i = 0; i < 16; ++i) {
      low[i] = gf256::multiply(factor, static_cast<std::uint8_t>(i));
      high[i] = gf256::multiply(factor, static_cast<std::uint8_t>(i << 4));
    }
  }
  std::uint8_t of(std::uint8_t octet) const { return low[octet & 15] ^ high[octet >> 4]; }

  alignas(16) std::uint8_t low[16];
  alignas(16) std::uint8_t high[16];
};

void add_multiple_octets(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  const Nibbles products(factor);
  for (std::size_t i = 0; i < bytes; ++i) to[i] ^= products.of(from[i]);
}

void multiply_octets(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  const Nibbles products(factor);
  for (std::size_t i = 0; i < bytes; ++i) row[i] = products.of(row[i]);
}

void multiply_add_octets(std::uint8_t* row, const std::uint8_t* more, std::size_t bytes, std::uint8_t factor) {
  const Nibbles products(factor);
  for (std::size_t i = 0; i < bytes; ++i) row[i] = products.of(row[i]) ^ more[i];
}

bool always() { return true; }

#if defined(__x86_64__)

// --- AVX2: products by table look-up, half an octet at a time ---

SPINDLE_TARGET("avx2")
void sum_avx2(std::uint8_t* to, const std::uint8_t* const* from, std::size_t count, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 128 <= bytes; at += 128) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (std::size_t i = 0; i < count; ++i) {
      const auto* row = reinterpret_cast<const __m256i*>(from[i] + at);
      a = _mm256_xor_si256(a, _mm256_loadu_si256(row));
      b = _mm256_xor_si256(b, _mm256_loadu_si256(row + 1));
      c = _mm256_xor_si256(c, _mm256_loadu_si256(row + 2));
      d = _mm256_xor_si256(d, _mm256_loadu_si256(row + 3));
    }
    auto* into = reinterpret_cast<__m256i*>(to + at);
    _mm256_storeu_si256(into, a);
    _mm256_storeu_si256(into + 1, b);
    _mm256_storeu_si256(into + 2, c);
    _mm256_storeu_si256(into + 3, d);
  }
  sum_rest(to, from, count, at, bytes);
}

struct WideNibbles {
  __m256i low, high;
};

SPINDLE_TARGET("avx2") inline WideNibbles widen(const Nibbles& products) {
  return {_mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(products.low))),
          _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(products.high)))};
}

SPINDLE_TARGET("avx2") inline __m256i product(const WideNibbles& products, __m256i octets) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(products.low, _mm256_and_si256(octets, mask));
  const __m256i high = _mm256_shuffle_epi8(products.high, _mm256_and_si256(_mm256_srli_epi64(octets, 4), mask));
  return _mm256_xor_si256(low, high);
}

SPINDLE_TARGET("avx2")
void add_multiple_avx2(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  const Nibbles products(factor);
  const WideNibbles wide = widen(products);
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    auto* into = reinterpret_cast<__m256i*>(to + at);
    const __m256i more = product(wide, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
    _mm256_storeu_si256(into, _mm256_xor_si256(_mm256_loadu_si256(into), more));
  }
  for (; at < bytes; ++at) to[at] ^= products.of(from[at]);
}

SPINDLE_TARGET("avx2") void multiply_avx2(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  const Nibbles products(factor);
  const WideNibbles wide = widen(products);
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    auto* into = reinterpret_cast<__m256i*>(row + at);
    _mm256_storeu_si256(into, product(wide, _mm256_loadu_si256(into)));
  }
  for (; at < bytes; ++at) row[at] = products.of(row[at]);
}

SPINDLE_TARGET("avx2")
void multiply_add_avx2(std::uint8_t* row, const std::uint8_t* more, std::size_t bytes, std::uint8_t factor) {
  const Nibbles products(factor);
  const WideNibbles wide = widen(products);
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    auto* into = reinterpret_cast<__m256i*>(row + at);
    const __m256i term = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(more + at));
    _mm256_storeu_si256(into, _mm256_xor_si256(product(wide, _mm256_loadu_si256(into)), term));
  }
  for (; at < bytes; ++at) row[at] = products.of(row[at]) ^ more[at];
}

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

// --- AVX-512 with GFNI: a product is a matrix of bits, as the instruction for products has another polynomial ---

/// The matrix by which octets are multiplied with the factor.
std::uint64_t matrix_of(std::uint8_t factor) {
  std::uint64_t matrix = 0;
  for (unsigned column = 0; column < 8; ++column) {
    const std::uint8_t image = gf256::multiply(factor, static_cast<std::uint8_t>(1u << column));
    for (unsigned row = 0; row < 8; ++row) {
      // The instruction wants the row for bit i of the result in octet 7 - i.
      if ((image >> row & 1u) != 0) matrix |= std::uint64_t{1} << (8 * (7 - row) + column);
    }
  }
  return matrix;
}

SPINDLE_TARGET("avx512f,avx512bw")
void sum_avx512(std::uint8_t* to, const std::uint8_t* const* from, std::size_t count, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 256 <= bytes; at += 256) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* row = from[i] + at;
      a = _mm512_xor_si512(a, _mm512_loadu_si512(row));
      b = _mm512_xor_si512(b, _mm512_loadu_si512(row + 64));
      c = _mm512_xor_si512(c, _mm512_loadu_si512(row + 128));
      d = _mm512_xor_si512(d, _mm512_loadu_si512(row + 192));
    }
    _mm512_storeu_si512(to + at, a);
    _mm512_storeu_si512(to + at + 64, b);
    _mm512_storeu_si512(to + at + 128, c);
    _mm512_storeu_si512(to + at + 192, d);
  }
  sum_rest(to, from, count, at, bytes);
}

SPINDLE_TARGET("avx512f,avx512bw,gfni")
void add_multiple_gfni(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  const __m512i matrix = _mm512_set1_epi64(static_cast<long long>(matrix_of(factor)));
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    const __m512i more = _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(from + at), matrix, 0);
    _mm512_storeu_si512(to + at, _mm512_xor_si512(_mm512_loadu_si512(to + at), more));
  }
  for (; at < bytes; ++at) to[at] ^= gf256::multiply(factor, from[at]);
}

SPINDLE_TARGET("avx512f,avx512bw,gfni")
void multiply_gfni(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  const __m512i matrix = _mm512_set1_epi64(static_cast<long long>(matrix_of(factor)));
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    _mm512_storeu_si512(row + at, _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(row + at), matrix, 0));
  }
  for (; at < bytes; ++at) row[at] = gf256::multiply(factor, row[at]);
}

SPINDLE_TARGET("avx512f,avx512bw,gfni")
void multiply_add_gfni(std::uint8_t* row, const std::uint8_t* more, std::size_t bytes, std::uint8_t factor) {
  const __m512i matrix = _mm512_set1_epi64(static_cast<long long>(matrix_of(factor)));
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    const __m512i product = _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(row + at), matrix, 0);
    _mm512_storeu_si512(row + at, _mm512_xor_si512(product, _mm512_loadu_si512(more + at)));
  }
  for (; at < bytes; ++at) row[at] = gf256::multiply(factor, row[at]) ^ more[at];
}

bool has_gfni() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("gfni") != 0;
}

#endif

constexpr RowKernels kKernels[] = {
    {"portable", always, sum_words, add_multiple_octets, multiply_octets, multiply_add_octets},
#if defined(__x86_64__)
    {"AVX2", has_avx2, sum_avx2, add_multiple_avx2, multiply_avx2, multiply_add_avx2},
    {"GFNI", has_gfni, sum_avx512, add_multiple_gfni, multiply_gfni, multiply_add_gfni},
#endif
};

const RowKernels& choose() {
  const RowKernels* best = kKernels;
  for (const RowKernels& each : kKernels) {
    if (each.is_usable()) best = &each;
  }
  return *best;
}

}  // namespace

std::span<const RowKernels> all_row_kernels() { return kKernels; }

const RowKernels& row_kernels() {
  static const RowKernels& chosen = choose();
  return chosen;
}

}  // namespace spindle::codes
