// Matrices of bits, and rows of octets as bits.
#pragma once

#include <algorithm>
#include <array>
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

/// A row of octets by their bits: a *plane* has one bit of each of 64 octets, which are added at a time.
class OctetPlanes {
 public:
  explicit OctetPlanes(std::size_t columns) : words_((columns + 63) / 64, Planes{}) {}

  /// Adds 1 to the octet of a column, or to those of all columns that have a bit.
  void flip(std::size_t column) { words_[column / 64][0] ^= std::uint64_t{1} << (column % 64); }
  void add(BitWords row) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i][0] ^= row[i];
  }
  void add(const OctetPlanes& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::size_t bit = 0; bit < 8; ++bit) words_[i][bit] ^= other.words_[i][bit];
    }
  }
  /// Bits move up by one, and what falls out is 0x1D, by the polynomial (RFC 6330, section 5.7.2).
  void multiply_by_alpha() {
    for (Planes& planes : words_) {
      std::rotate(planes.begin(), planes.end() - 1, planes.end());
      for (const std::size_t bit : {2u, 3u, 4u}) planes[bit] ^= planes[0];
    }
  }

  /// Of all columns, and 0 behind them up to a multiple of 64.
  std::vector<std::uint8_t> octets() const {
    std::vector<std::uint8_t> result;
    for (const Planes& planes : words_) {
      for (std::size_t first = 0; first < 64; first += 8) {
        std::uint64_t eight = 0;  // octets of a plane each
        for (std::size_t bit = 0; bit < 8; ++bit) eight |= (planes[bit] >> first & 0xff) << (8 * bit);
        eight = transpose(eight);
        for (std::size_t i = 0; i < 8; ++i) result.push_back(static_cast<std::uint8_t>(eight >> (8 * i)));
      }
    }
    return result;
  }

 private:
  using Planes = std::array<std::uint64_t, 8>;

  /// Eight rows of eight bits: bit i of octet k and bit k of octet i change places, by ever larger squares.
  static std::uint64_t transpose(std::uint64_t square) {
    const auto swap = [&](std::uint64_t mask, unsigned distance) {
      const std::uint64_t change = (square ^ (square >> distance)) & mask;
      square ^= change ^ (change << distance);
    };
    swap(0x00aa00aa00aa00aa, 7);
    swap(0x0000cccc0000cccc, 14);
    swap(0x00000000f0f0f0f0, 28);
    return square;
  }

  std::vector<Planes> words_;
};

}  // namespace spindle::codes
