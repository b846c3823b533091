#include "libclient/bulk/content_layout.h"

#include <algorithm>
#include <bit>

namespace spindle::bulk {

namespace {

constexpr std::uint64_t parts(std::uint64_t total, std::uint64_t size) { return total / size + (total % size != 0); }

constexpr std::uint32_t kBlockBytesMax = kSymbolsPerBlockMax * kSymbolBytesMax;

std::uint64_t symbol_bytes_of_small(std::uint64_t size) {
  std::uint64_t bytes = kSymbolBytesMin;
  while (parts(size, bytes) > kUsualSymbols) bytes *= 2;
  return bytes;
}

std::uint64_t block_bytes_of_large(std::uint64_t size) {
  std::uint64_t bytes = kUsualBlockBytes;
  while (parts(size, bytes) > kBlocksMax && bytes < kBlockBytesMax) bytes *= 2;
  return std::min<std::uint64_t>(bytes, kBlockBytesMax);
}

}  // namespace

std::optional<ContentLayout> ContentLayout::of(std::uint64_t size) {
  ContentLayout layout;
  layout.size = size;
  if (size == kSizeUnknown) return layout;
  if (size > kContentBytesMax) return std::nullopt;
  const bool is_small = size < kUsualBlockBytes;
  const std::uint64_t block = is_small ? symbol_bytes_of_small(size) * kUsualSymbols : block_bytes_of_large(size);
  layout.block_bytes = static_cast<std::uint32_t>(block);
  layout.symbol_bytes =
      static_cast<std::uint16_t>(std::min<std::uint64_t>(std::bit_floor(block) / kUsualSymbols, kSymbolBytesMax));
  return layout;
}

bool ContentLayout::is_valid() const {
  if (!std::has_single_bit(symbol_bytes) || symbol_bytes < kSymbolBytesMin || symbol_bytes > kSymbolBytesMax) {
    return false;
  }
  if (block_bytes == 0 || block_bytes % symbol_bytes != 0 || symbols_of_whole() > kSymbolsPerBlockMax) return false;
  return !has_size() || parts(size, block_bytes) <= kBlocksMax;
}

std::optional<ContentLayout> ContentLayout::sealed(std::uint64_t final_size) const {
  ContentLayout layout = *this;
  layout.size = final_size;
  if (final_size == kSizeUnknown || (has_size() && size != final_size) || !layout.is_valid()) return std::nullopt;
  return layout;
}

std::uint32_t ContentLayout::blocks() const {
  return has_size() ? static_cast<std::uint32_t>(parts(size, block_bytes)) : kBlocksMax;
}

std::uint32_t ContentLayout::bytes_of(std::uint32_t block) const {
  if (!has_size()) return block_bytes;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size - start_of(block), block_bytes));
}

std::uint32_t ContentLayout::symbols_of(std::uint32_t block) const {
  return static_cast<std::uint32_t>(parts(bytes_of(block), symbol_bytes));
}

std::size_t layout_size(const ContentLayout& layout) { return 4 + 2 + varint_size(layout.size); }

void write_layout(Writer& writer, const ContentLayout& layout) {
  writer.u32(layout.block_bytes);
  writer.u16(layout.symbol_bytes);
  writer.varint(layout.size);
}

ContentLayout read_layout(Reader& reader) {
  ContentLayout layout;
  layout.block_bytes = reader.u32();
  layout.symbol_bytes = reader.u16();
  layout.size = reader.varint();
  if (reader.ok() && !layout.is_valid()) reader.fail();
  return layout;
}

}  // namespace spindle::bulk
