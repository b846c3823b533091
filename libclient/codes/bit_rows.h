// Matrices of bits, and rows of octets as bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spindle::codes {

using BitWords = std::span<const std::uint64_t>;

class BitRows {
 public:
  BitRows(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}

  BitWords row(std::size_t row) const { return {bits_.data() + row * words_, words_}; }
  bool has(std::size_t row, std::size_t column) const { return (at(row)[column / 64] >> (column % 64) & 1) != 0; }
  void flip(std::size_t row, std::size_t column) { at(row)[column / 64] ^= std::uint64_t{1} << (column % 64); }
  void add(std::size_t to, std::size_t from) {
    std::uint64_t* into = at(to);
    const std::uint64_t* more = at(from);
    for (std::size_t i = 0; i < words_; ++i) into[i] ^= more[i];
  }

  static constexpr std::size_t kNone = SIZE_MAX;
  /// The first column with a bit, or kNone.
  std::size_t first(std::size_t row) const {
    for (std::size_t word = 0; word < words_; ++word) {
      if (at(row)[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(at(row)[word]));
    }
    return kNone;
  }
  template <typename Visit>
  void for_each(std::size_t row, Visit&& visit) const {
    for (std::size_t word = 0; word < words_; ++word) {
      for (std::uint64_t rest = at(row)[word]; rest != 0; rest &= rest - 1) {
        visit(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
      }
    }
  }

 private:
  std::uint64_t* at(std::size_t row) { return bits_.data() + row * words_; }
  const std::uint64_t* at(std::size_t row) const { return bits_.data() + row * words_; }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// A row of octets by their bits: a *plane* has one bit of each. So 64 of them are added at a time.
class OctetPlanes {
 public:
  explicit OctetPlanes(std::size_t columns) : columns_(columns), words_((columns + 63) / 64), bits_(8 * words_, 0) {}

  /// Adds 1 to the octet of a column, or to those of all columns that have a bit.
  void flip(std::size_t column) { plane(0)[column / 64] ^= std::uint64_t{1} << (column % 64); }
  void add(BitWords row) {
    for (std::size_t i = 0; i < words_; ++i) plane(0)[i] ^= row[i];
  }
  void add(const OctetPlanes& other) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      for (std::size_t i = 0; i < words_; ++i) plane(bit)[i] ^= other.plane(bit)[i];
    }
  }
  /// Octets move up by a bit, and what falls out is 0x1D, by the polynomial (section 5.7.2).
  void multiply_by_alpha() {
    lowest_ = (lowest_ + 7) % 8;
    for (const unsigned bit : {2u, 3u, 4u}) {
      for (std::size_t i = 0; i < words_; ++i) plane(bit)[i] ^= plane(0)[i];
    }
  }

  std::vector<std::uint8_t> octets() const {
    std::vector<std::uint8_t> result(columns_, 0);
    for (unsigned bit = 0; bit < 8; ++bit) {
      for (std::size_t i = 0; i < columns_; ++i) {
        result[i] |= static_cast<std::uint8_t>((plane(bit)[i / 64] >> (i % 64) & 1) << bit);
      }
    }
    return result;
  }

 private:
  std::uint64_t* plane(unsigned bit) { return bits_.data() + (lowest_ + bit) % 8 * words_; }
  const std::uint64_t* plane(unsigned bit) const { return bits_.data() + (lowest_ + bit) % 8 * words_; }

  std::size_t columns_, words_;
  unsigned lowest_ = 0;  // where plane 0 is
  std::vector<std::uint64_t> bits_;
};

}  // namespace spindle::codes
