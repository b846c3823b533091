#include "libclient/codes/raptorq_object.h"

#include <algorithm>
#include <iterator>

#include "libclient/codes/raptorq_block.h"
#include "libclient/codes/raptorq_tables.h"

namespace spindle::codes {

namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// The largest K' that is no more; 0 for none.
std::uint64_t block_symbols_up_to(std::uint64_t symbols) {
  const auto* above = std::upper_bound(std::begin(kBlockRows), std::end(kBlockRows), symbols,
                                       [](std::uint64_t bound, const BlockRow& row) { return bound < row.symbols; });
  return above == std::begin(kBlockRows) ? 0 : std::prev(above)->symbols;
}

void put(std::uint8_t*& at, std::uint64_t value, unsigned octets) {
  for (unsigned i = octets; i > 0; --i) *at++ = static_cast<std::uint8_t>(value >> (8 * (i - 1)));
}

std::uint64_t take(const std::uint8_t*& at, unsigned octets) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < octets; ++i) value = value << 8 | *at++;
  return value;
}

}  // namespace

Partition Partition::of(std::uint64_t total, std::uint32_t parts) {
  const auto large = static_cast<std::uint32_t>(total % parts);
  return {divide_up(total, parts), total / parts, large, parts - large};
}

std::uint64_t Partition::start_of(std::uint32_t part) const {
  const std::uint64_t large = std::min(part, large_count);
  return large * large_size + (part - large) * small_size;
}

bool ObjectInformation::is_possible() const {
  if (bytes == 0 || bytes > kObjectBytesMax || symbol_bytes == 0 || alignment == 0 || symbol_bytes % alignment != 0) {
    return false;
  }
  if (blocks == 0 || blocks > symbols() || sub_blocks == 0 || sub_blocks > symbol_bytes / alignment) return false;
  return block_sizes().large_size <= kBlockSymbolsMax;
}

std::optional<ObjectInformation> ObjectInformation::suggest(std::uint64_t bytes, std::uint16_t symbol_bytes,
                                                            std::uint8_t alignment, std::uint64_t memory,
                                                            std::uint32_t part) {
  if (bytes == 0 || symbol_bytes == 0 || alignment == 0 || part == 0 || symbol_bytes % alignment != 0)
    return std::nullopt;
  const std::uint64_t symbols = divide_up(bytes, symbol_bytes);
  const std::uint64_t parts_max = symbol_bytes / (std::uint64_t{part} * alignment);
  if (parts_max == 0) return std::nullopt;
  const auto block_of = [&](std::uint64_t parts) {  // KL(n)
    return block_symbols_up_to(memory / (alignment * divide_up(symbol_bytes, alignment * parts)));
  };
  const std::uint64_t largest = block_of(parts_max);
  if (largest == 0) return std::nullopt;
  const std::uint64_t blocks = divide_up(symbols, largest);
  if (blocks > 255) return std::nullopt;
  std::uint64_t parts = 1;
  while (parts < parts_max && divide_up(symbols, blocks) > block_of(parts)) ++parts;
  const ObjectInformation object{bytes, symbol_bytes, static_cast<std::uint8_t>(blocks),
                                 static_cast<std::uint16_t>(parts), alignment};
  return object.is_possible() ? std::optional(object) : std::nullopt;
}

std::optional<ObjectInformation> ObjectInformation::read(std::span<const std::uint8_t, kBytes> bytes) {
  const std::uint8_t* at = bytes.data();
  ObjectInformation object;
  object.bytes = take(at, 5);
  take(at, 1);  // reserved
  object.symbol_bytes = static_cast<std::uint16_t>(take(at, 2));
  object.blocks = static_cast<std::uint8_t>(take(at, 1));
  object.sub_blocks = static_cast<std::uint16_t>(take(at, 2));
  object.alignment = static_cast<std::uint8_t>(take(at, 1));
  return object.is_possible() ? std::optional(object) : std::nullopt;
}

std::array<std::uint8_t, ObjectInformation::kBytes> ObjectInformation::write() const {
  std::array<std::uint8_t, kBytes> octets{};
  std::uint8_t* at = octets.data();
  put(at, bytes, 5);
  put(at, 0, 1);
  put(at, symbol_bytes, 2);
  put(at, blocks, 1);
  put(at, sub_blocks, 2);
  put(at, alignment, 1);
  return octets;
}

InterleavedBlock::InterleavedBlock(const ObjectInformation& object, std::uint32_t symbols)
    : parts_(object.part_sizes()), count_(object.sub_blocks), alignment_(object.alignment), symbols_(symbols) {}

template <typename Visit>
void InterleavedBlock::for_each_part(std::uint32_t symbol, Visit&& visit) const {
  for (std::uint32_t part = 0; part < count_; ++part) {
    const std::uint64_t size = parts_.size_of(part) * alignment_, start = parts_.start_of(part) * alignment_;
    visit(start * symbols_ + size * symbol, start, size);
  }
}

void InterleavedBlock::gather(const std::uint8_t* content, std::uint32_t symbol, std::uint8_t* to) const {
  for_each_part(symbol, [&](std::uint64_t in_content, std::uint64_t in_symbol, std::uint64_t size) {
    std::copy_n(content + in_content, size, to + in_symbol);
  });
}

void InterleavedBlock::scatter(const std::uint8_t* from, std::uint32_t symbol, std::uint8_t* content) const {
  for_each_part(symbol, [&](std::uint64_t in_content, std::uint64_t in_symbol, std::uint64_t size) {
    std::copy_n(from + in_symbol, size, content + in_content);
  });
}

}  // namespace spindle::codes
