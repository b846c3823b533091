// Which of up to 512 sequences that follow each other are meant.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "libclient/common/bytes.h"

namespace spindled {

/// A bitmap over a first sequence and those behind it. Bit 0 stands for the first one.
class SequenceBits {
 public:
  static constexpr std::size_t kMax = 512;
  static constexpr std::size_t kBytesMax = kMax / 8;

  void insert(std::size_t index) {
    words_[index / 64] |= std::uint64_t{1} << (index % 64);
    if (index / 64 >= used_) used_ = static_cast<std::uint32_t>(index / 64) + 1;
  }
  bool contains(std::size_t index) const { return (words_[index / 64] >> (index % 64) & 1) != 0; }
  bool empty() const { return used_ == 0; }
  std::size_t count() const {
    std::size_t total = 0;
    for_each([&](std::size_t) { ++total; });
    return total;
  }
  bool operator==(const SequenceBits&) const = default;

  /// Calls `visit(index)` in ascending order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < used_; ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(64 * i + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

  /// Bytes of the bitmap without trailing zero bytes.
  std::size_t byte_count() const {
    if (used_ == 0) return 0;
    return 8 * used_ - static_cast<std::size_t>(std::countl_zero(words_[used_ - 1])) / 8;
  }
  /// A byte with the number of bytes, and then those.
  void write(spindle::Writer& writer) const {
    const std::size_t count = byte_count();
    writer.u8(static_cast<std::uint8_t>(count));
    for (std::size_t i = 0; i < count; ++i) writer.u8(static_cast<std::uint8_t>(words_[i / 8] >> (8 * (i % 8))));
  }
  /// A bitmap that is malformed makes the reader fail: the first sequence is always in it, so that it has one encoding.
  static SequenceBits read(spindle::Reader& reader) {
    SequenceBits bits;
    const std::size_t count = reader.u8();
    if (count == 0 || count > kBytesMax) {
      reader.fail();
      return bits;
    }
    const spindle::ByteView bytes = reader.bytes(count);
    for (std::size_t i = 0; i < bytes.size(); ++i) bits.words_[i / 8] |= std::uint64_t{bytes[i]} << (8 * (i % 8));
    bits.used_ = static_cast<std::uint32_t>((bytes.size() + 7) / 8);
    // The last byte is not zero, and so the last word is not.
    if (bytes.empty() || bytes.back() == 0 || !bits.contains(0)) reader.fail();
    return bits;
  }

 private:
  std::array<std::uint64_t, kMax / 64> words_{};
  std::uint32_t used_ = 0;  // words up to the last one that is not zero
};

}  // namespace spindled
