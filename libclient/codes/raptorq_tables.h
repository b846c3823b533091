// The tables of RFC 6330.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spindle::codes {

/// V0 to V3 of section 5.5.
extern const std::uint32_t kRandomTables[4][256];

/// A row of table 2, section 5.6, in the names that the RFC uses.
struct BlockRow {
  std::uint32_t symbols;           // K'
  std::uint32_t systematic_index;  // J(K')
  std::uint32_t ldpc_symbols;      // S(K')
  std::uint32_t hdpc_symbols;      // H(K')
  std::uint32_t lt_symbols;        // W(K')
};

inline constexpr std::size_t kBlockRowCount = 477;
/// With rising K'.
extern const BlockRow kBlockRows[kBlockRowCount];

}  // namespace spindle::codes
