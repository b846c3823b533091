// How RFC 6330 cuts an object into blocks and symbols, and what it tells a receiver of that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace spindle::codes {

/// `parts` parts of `total`, in two sizes as equal as can be (section 4.4.1.2, Partition[I, J]).
struct Partition {
  std::uint64_t large_size, small_size;
  std::uint32_t large_count, small_count;

  static Partition of(std::uint64_t total, std::uint32_t parts);
  std::uint64_t size_of(std::uint32_t part) const { return part < large_count ? large_size : small_size; }
  std::uint64_t start_of(std::uint32_t part) const;
};

/// What a receiver has to know of an object (section 3.3): F, T, Z, N and Al.
struct ObjectInformation {
  std::uint64_t bytes = 0;         // of the object, 1 to kObjectBytesMax
  std::uint16_t symbol_bytes = 0;  // a multiple of `alignment`
  std::uint8_t blocks = 0;         // source blocks
  std::uint16_t sub_blocks = 0;    // of each block: a symbol has a part in each
  std::uint8_t alignment = 1;      // what sizes of parts of symbols are multiples of

  /// 255 blocks of 56,403 symbols of 65,535 bytes (erratum 5548).
  static constexpr std::uint64_t kObjectBytesMax = 942'574'504'275;
  static constexpr std::size_t kBytes = 12;

  /// As the receiver's memory suggests (section 4.3): blocks of no more than `memory` bytes are put together at a time,
  /// and parts of symbols have at least `part` times the alignment. Nothing where that cannot be.
  static std::optional<ObjectInformation> suggest(std::uint64_t bytes, std::uint16_t symbol_bytes,
                                                  std::uint8_t alignment, std::uint64_t memory, std::uint32_t part);

  /// Nothing where the values cannot be those of an object.
  static std::optional<ObjectInformation> read(std::span<const std::uint8_t, kBytes> bytes);
  std::array<std::uint8_t, kBytes> write() const;

  std::uint64_t symbols() const { return (bytes + symbol_bytes - 1) / symbol_bytes; }
  /// Of blocks, in symbols.
  Partition block_sizes() const { return Partition::of(symbols(), blocks); }
  /// Of the parts of a symbol, in multiples of the alignment.
  Partition part_sizes() const { return Partition::of(symbol_bytes / alignment, sub_blocks); }
  bool is_possible() const;

  bool operator==(const ObjectInformation&) const = default;
};

/// Source symbols of a block with sub-blocks, where they are in its content: one sub-block lies behind the other, each
/// with its parts of all symbols (section 4.4.1.2).
class InterleavedBlock {
 public:
  InterleavedBlock(const ObjectInformation& object, std::uint32_t symbols);

  /// Puts the symbol together from `content`, which has all symbols of the block.
  void gather(const std::uint8_t* content, std::uint32_t symbol, std::uint8_t* to) const;
  void scatter(const std::uint8_t* from, std::uint32_t symbol, std::uint8_t* content) const;

 private:
  template <typename Visit>
  void for_each_part(std::uint32_t symbol, Visit&& visit) const;

  Partition parts_;
  std::uint32_t count_;  // of parts
  std::uint64_t alignment_;
  std::uint32_t symbols_;
};

}  // namespace spindle::codes
