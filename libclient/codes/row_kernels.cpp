#include "libclient/codes/row_kernels.h"

#include <cstring>

#include "libclient/codes/gf256.h"
#include "libclient/codes/row_kernels_by_processor.h"

namespace spindle::codes {

namespace {

void sum_words(std::uint8_t* to, RowArray rows, std::span<const std::uint32_t> numbers, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t sum = 0;
    for (const std::uint32_t number : numbers) {
      std::uint64_t word = 0;
      std::memcpy(&word, rows.at(number) + at, 8);
      sum ^= word;
    }
    std::memcpy(to + at, &sum, 8);
  }
  sum_rest(to, rows, numbers, at, bytes);
}

void add_multiple_octets(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor) {
  add_multiple_rest(to, from, 0, bytes, factor);
}

void multiply_octets(std::uint8_t* row, std::size_t bytes, std::uint8_t factor) {
  multiply_rest(row, 0, bytes, factor);
}

void accumulate_octets(std::uint8_t* row, const std::uint8_t* more, std::uint8_t* a, std::uint8_t* b, std::size_t bytes,
                       std::uint8_t factor) {
  accumulate_rest(row, more, a, b, 0, bytes, factor);
}

bool always() { return true; }

constexpr RowKernels kPortable{"portable", always, sum_words, add_multiple_octets, multiply_octets, accumulate_octets};

std::vector<RowKernels> find_all() {
  std::vector<RowKernels> all{kPortable};
  append_processor_kernels(all);
  return all;
}

}  // namespace

#if !defined(__x86_64__) && !defined(__aarch64__)
void append_processor_kernels(std::vector<RowKernels>&) {}
#endif

std::span<const RowKernels> all_row_kernels() {
  static const std::vector<RowKernels> all = find_all();
  return all;
}

const RowKernels& row_kernels() {
  static const RowKernels& chosen = *[] {
    const RowKernels* best = nullptr;
    for (const RowKernels& each : all_row_kernels()) {
      if (each.is_usable()) best = &each;
    }
    return best;
  }();
  return chosen;
}

}  // namespace spindle::codes
