#if defined(__aarch64__)

#include <arm_neon.h>

#include "libclient/codes/row_kernels_by_processor.h"

namespace spindle::codes {

namespace {

// Products by table look-up, half an octet at a time.

void sum_neon(std::uint8_t* to, RowArray rows, std::span<const std::uint32_t> numbers, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    uint8x16_t a = vdupq_n_u8(0), b = a, c = a, d = a;
    for (const std::uint32_t number : numbers) {
      const std::uint8_t* row = rows.at(number) + at;
      a = veorq_u8(a, vld1q_u8(row));
      b = veorq_u8(b, vld1q_u8(row + 16));
      c = veorq_u8(c, vld1q_u8(row + 32));
      d = veorq_u8(d, vld1q_u8(row + 48));
    }
    vst1q_u8(to + at, a);
    vst1q_u8(to + at + 16, b);
    vst1q_u8(to + at + 32, c);
    vst1q_u8(to + at + 48, d);
  }
  for (; at + 16 <= bytes; at += 16) {
    uint8x16_t sum = vdupq_n_u8(0);
    for (const std::uint32_t number : numbers) sum = veorq_u8(sum, vld1q_u8(rows.at(number) + at));
    vst1q_u8(to + at, sum);
  }
  sum_rest(to, rows, numbers, at, bytes);
}

struct Products {
  explicit Products(std::uint8_t factor)
      : low(vld1q_u8(kNibbleProducts[factor].low)), high(vld1q_u8(kNibbleProducts[factor].high)) {}
  uint8x16_t of(uint8x16_t octets) const {
    return veorq_u8(vqtbl1q_u8(low, vandq_u8(octets, vdupq_n_u8(15))), vqtbl1q_u8(high, vshrq_n_u8(octets, 4)));
  }

  uint8x16_t low, high;
};

void add_multiple_neon(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  const Products products(factor);
  std::size_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    vst1q_u8(to + at, veorq_u8(vld1q_u8(to + at), products.of(vld1q_u8(from + at))));
  }
  add_multiple_rest(to, from, at, bytes, factor);
}

void multiply_neon(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  const Products products(factor);
  std::size_t at = 0;
  for (; at + 16 <= bytes; at += 16) vst1q_u8(row + at, products.of(vld1q_u8(row + at)));
  multiply_rest(row, at, bytes, factor);
}

void accumulate_neon(std::uint8_t* row, const std::uint8_t* more, std::uint8_t* a, std::uint8_t* b, std::size_t bytes,
                     std::uint8_t factor) {
  const Products products(factor);
  std::size_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    const uint8x16_t sum = veorq_u8(products.of(vld1q_u8(row + at)), vld1q_u8(more + at));
    vst1q_u8(row + at, sum);
    vst1q_u8(a + at, veorq_u8(vld1q_u8(a + at), sum));
    vst1q_u8(b + at, veorq_u8(vld1q_u8(b + at), sum));
  }
  accumulate_rest(row, more, a, b, at, bytes, factor);
}

bool always() { return true; }

}  // namespace

void append_processor_kernels(std::vector<RowKernels>& kernels) {
  kernels.push_back({"NEON", always, sum_neon, add_multiple_neon, multiply_neon, accumulate_neon});
}

}  // namespace spindle::codes

#endif
