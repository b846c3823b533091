// How content is cut into blocks, and blocks into symbols.
//
// A block is coded on its own: K source symbols of T bytes. The last block is shorter: T is the same, the symbols are
// fewer, and the last symbol is filled up with zeros. An empty content has no block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libclient/common/bytes.h"

namespace spindle::bulk {

inline constexpr std::uint32_t kBlocksMax = 65'536;
/// K at most (RFC 6330, section 5.1.2: K'_max).
inline constexpr std::uint32_t kSymbolsPerBlockMax = 56'403;
inline constexpr std::uint32_t kSymbolBytesMin = 1u << 10;  // T
inline constexpr std::uint32_t kSymbolBytesMax = 32u << 10;
/// Of content that has this much, and of streams.
inline constexpr std::uint32_t kUsualBlockBytes = 8u << 20;
inline constexpr std::uint32_t kUsualSymbols = 1'024;
/// A content has so many bytes at most: 65,536 blocks of 56,403 symbols of 32 KiB.
inline constexpr std::uint64_t kContentBytesMax = std::uint64_t{kBlocksMax} * kSymbolsPerBlockMax * kSymbolBytesMax;
/// The size of a stream that is not sealed yet.
inline constexpr std::uint64_t kSizeUnknown = UINT64_MAX;

struct ContentLayout {
  std::uint32_t block_bytes = kUsualBlockBytes;  // of each block but the last: a multiple of `symbol_bytes`
  std::uint16_t symbol_bytes = kUsualBlockBytes / kUsualSymbols;  // T: a power of two
  std::uint64_t size = kSizeUnknown;                              // of the content, in bytes

  bool operator==(const ContentLayout&) const = default;

  /// The layout that an offer of that size has; kSizeUnknown: that of a stream. Nothing above kContentBytesMax.
  ///
  /// Blocks have 8 MiB, doubled until 65,536 suffice. T is block / 1,024 up to 32 KiB; beyond that, blocks have more
  /// symbols, as many as the code has at most. What is smaller than 8 MiB is one block, with the smallest T for which
  /// 1,024 symbols suffice.
  static std::optional<ContentLayout> of(std::uint64_t size);

  /// Whether the values can be those of a content. All other functions are for layouts that are valid.
  bool is_valid() const;
  bool has_size() const { return size != kSizeUnknown; }
  /// The same layout once the size is known. Nothing where so much does not fit into it, or it has another size.
  std::optional<ContentLayout> sealed(std::uint64_t final_size) const;

  /// Blocks are numbered from 0 to below this. Without a size it is how many there may be.
  std::uint32_t blocks() const;
  std::uint64_t start_of(std::uint32_t block) const { return std::uint64_t{block} * block_bytes; }
  /// Of one of `blocks()`. Without a size all blocks are whole.
  std::uint32_t bytes_of(std::uint32_t block) const;
  /// K of one of `blocks()`.
  std::uint32_t symbols_of(std::uint32_t block) const;
  /// K of a whole block.
  std::uint32_t symbols_of_whole() const { return block_bytes / symbol_bytes; }
};

/// As frames and operations have it: u32 block_bytes, u16 symbol_bytes, the size as a varint.
std::size_t layout_size(const ContentLayout& layout);
void write_layout(Writer& writer, const ContentLayout& layout);
/// The reader fails where the layout is not valid.
ContentLayout read_layout(Reader& reader);

}  // namespace spindle::bulk
