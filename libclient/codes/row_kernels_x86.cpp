#if defined(__x86_64__)

#include <immintrin.h>

#include "libclient/codes/row_kernels_by_processor.h"

#define SPINDLE_TARGET(features) __attribute__((target(features)))

namespace spindle::codes {

namespace {

// --- AVX2: products by table look-up, half an octet at a time ---

SPINDLE_TARGET("avx2") inline __m256i load256(const std::uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

SPINDLE_TARGET("avx2") inline void store256(std::uint8_t* to, __m256i octets) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), octets);
}

SPINDLE_TARGET("avx2")
void sum_avx2(std::uint8_t* to, RowArray rows, std::span<const std::uint32_t> numbers, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 128 <= bytes; at += 128) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (const std::uint32_t number : numbers) {
      const std::uint8_t* row = rows.at(number) + at;
      a = _mm256_xor_si256(a, load256(row));
      b = _mm256_xor_si256(b, load256(row + 32));
      c = _mm256_xor_si256(c, load256(row + 64));
      d = _mm256_xor_si256(d, load256(row + 96));
    }
    store256(to + at, a);
    store256(to + at + 32, b);
    store256(to + at + 64, c);
    store256(to + at + 96, d);
  }
  for (; at + 32 <= bytes; at += 32) {
    __m256i sum = _mm256_setzero_si256();
    for (const std::uint32_t number : numbers) sum = _mm256_xor_si256(sum, load256(rows.at(number) + at));
    store256(to + at, sum);
  }
  sum_rest(to, rows, numbers, at, bytes);
}

struct WideProducts {
  __m256i low, high;
};

SPINDLE_TARGET("avx2") inline WideProducts widen(std::uint8_t factor) {
  const NibbleProducts& products = kNibbleProducts[factor];
  return {_mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(products.low))),
          _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(products.high)))};
}

SPINDLE_TARGET("avx2") inline __m256i product(const WideProducts& products, __m256i octets) {
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(products.low, _mm256_and_si256(octets, mask));
  const __m256i high = _mm256_shuffle_epi8(products.high, _mm256_and_si256(_mm256_srli_epi64(octets, 4), mask));
  return _mm256_xor_si256(low, high);
}

SPINDLE_TARGET("avx2")
void add_multiple_avx2(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  const WideProducts products = widen(factor);
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    store256(to + at, _mm256_xor_si256(load256(to + at), product(products, load256(from + at))));
  }
  add_multiple_rest(to, from, at, bytes, factor);
}

SPINDLE_TARGET("avx2") void multiply_avx2(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  const WideProducts products = widen(factor);
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) store256(row + at, product(products, load256(row + at)));
  multiply_rest(row, at, bytes, factor);
}

SPINDLE_TARGET("avx2")
void accumulate_avx2(std::uint8_t* row, const std::uint8_t* more, std::uint8_t* a, std::uint8_t* b, std::size_t bytes,
                     std::uint8_t factor) {
  const WideProducts products = widen(factor);
  std::size_t at = 0;
  for (; at + 32 <= bytes; at += 32) {
    const __m256i sum = _mm256_xor_si256(product(products, load256(row + at)), load256(more + at));
    store256(row + at, sum);
    store256(a + at, _mm256_xor_si256(load256(a + at), sum));
    store256(b + at, _mm256_xor_si256(load256(b + at), sum));
  }
  accumulate_rest(row, more, a, b, at, bytes, factor);
}

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

// --- AVX-512 with GFNI: a product is a matrix of bits, as the instruction for products has another polynomial ---

/// The matrices by which octets are multiplied with each factor.
constexpr std::array<std::uint64_t, 256> make_matrices() {
  std::array<std::uint64_t, 256> matrices{};
  for (unsigned factor = 0; factor < 256; ++factor) {
    for (unsigned column = 0; column < 8; ++column) {
      const std::uint8_t image =
          gf256::multiply(static_cast<std::uint8_t>(factor), static_cast<std::uint8_t>(1u << column));
      for (unsigned row = 0; row < 8; ++row) {
        // The instruction wants the row for bit i of the result in octet 7 - i.
        matrices[factor] |= std::uint64_t{image >> row & 1u} << (8 * (7 - row) + column);
      }
    }
  }
  return matrices;
}
constexpr std::array<std::uint64_t, 256> kMatrices = make_matrices();

SPINDLE_TARGET("avx512f") inline __m512i matrix_of(std::uint8_t factor) {
  return _mm512_set1_epi64(static_cast<long long>(kMatrices[factor]));
}

SPINDLE_TARGET("avx512f,avx512bw")
void sum_avx512(std::uint8_t* to, RowArray rows, std::span<const std::uint32_t> numbers, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 256 <= bytes; at += 256) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (const std::uint32_t number : numbers) {
      const std::uint8_t* row = rows.at(number) + at;
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
  for (; at + 64 <= bytes; at += 64) {
    __m512i sum = _mm512_setzero_si512();
    for (const std::uint32_t number : numbers) sum = _mm512_xor_si512(sum, _mm512_loadu_si512(rows.at(number) + at));
    _mm512_storeu_si512(to + at, sum);
  }
  sum_rest(to, rows, numbers, at, bytes);
}

SPINDLE_TARGET("avx512f,avx512bw,gfni")
void add_multiple_gfni(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  const __m512i matrix = matrix_of(factor);
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    const __m512i more = _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(from + at), matrix, 0);
    _mm512_storeu_si512(to + at, _mm512_xor_si512(_mm512_loadu_si512(to + at), more));
  }
  add_multiple_rest(to, from, at, bytes, factor);
}

SPINDLE_TARGET("avx512f,avx512bw,gfni")
void multiply_gfni(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  const __m512i matrix = matrix_of(factor);
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    _mm512_storeu_si512(row + at, _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(row + at), matrix, 0));
  }
  multiply_rest(row, at, bytes, factor);
}

SPINDLE_TARGET("avx512f,avx512bw,gfni")
void accumulate_gfni(std::uint8_t* row, const std::uint8_t* more, std::uint8_t* a, std::uint8_t* b, std::size_t bytes,
                     std::uint8_t factor) {
  const __m512i matrix = matrix_of(factor);
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    const __m512i product = _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(row + at), matrix, 0);
    const __m512i sum = _mm512_xor_si512(product, _mm512_loadu_si512(more + at));
    _mm512_storeu_si512(row + at, sum);
    _mm512_storeu_si512(a + at, _mm512_xor_si512(_mm512_loadu_si512(a + at), sum));
    _mm512_storeu_si512(b + at, _mm512_xor_si512(_mm512_loadu_si512(b + at), sum));
  }
  accumulate_rest(row, more, a, b, at, bytes, factor);
}

bool has_gfni() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("gfni") != 0;
}

}  // namespace

void append_processor_kernels(std::vector<RowKernels>& kernels) {
  kernels.push_back({"AVX2", has_avx2, sum_avx2, add_multiple_avx2, multiply_avx2, accumulate_avx2});
  kernels.push_back({"GFNI", has_gfni, sum_avx512, add_multiple_gfni, multiply_gfni, accumulate_gfni});
}

}  // namespace spindle::codes

#endif
