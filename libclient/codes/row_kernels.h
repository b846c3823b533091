// Arithmetic of RFC 6330, section 5.7, on rows of octets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace spindle::codes {

/// Rows that lie in memory one behind the other, and go by their numbers.
struct RowArray {
  const std::uint8_t* base = nullptr;
  std::size_t stride = 0;  // from the start of a row to that of the next, in octets

  const std::uint8_t* at(std::uint32_t number) const { return base + number * stride; }
};

/// One way of doing it. Different rows do not overlap.
struct RowKernels {
  std::string_view name;
  bool (*is_usable)();
  /// to = the sum of these rows; none of them make it 0. `to` may be one of them.
  void (*sum)(std::uint8_t* to, RowArray rows, std::span<const std::uint32_t> numbers, std::size_t bytes);
  /// to += factor * from
  void (*add_multiple)(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint8_t factor);
  /// row *= factor
  void (*multiply)(std::uint8_t* row, std::size_t bytes, std::uint8_t factor);
  /// row = factor * row + more, then a += row and b += row. `a` is not `b`.
  void (*accumulate)(std::uint8_t* row, const std::uint8_t* more, std::uint8_t* a, std::uint8_t* b, std::size_t bytes,
                     std::uint8_t factor);
};

/// All that were compiled, the slowest first, which is usable everywhere.
std::span<const RowKernels> all_row_kernels();
/// The fastest that this processor has.
const RowKernels& row_kernels();

}  // namespace spindle::codes
