// What RFC 6330 makes of the number of source symbols of a block: its parameters, and of which intermediate symbols
// each encoding symbol is the sum.
#pragma once

#include <cstdint>
#include <vector>

namespace spindle::codes {

/// So many source symbols a block has at most (K'_max).
inline constexpr std::uint32_t kBlockSymbolsMax = 56'403;

/// The random generator of section 5.3.5.1: a number below `bound`.
std::uint32_t rand_number(std::uint32_t y, std::uint32_t i, std::uint32_t bound);

/// The degree of section 5.3.5.2, of `v` below 2^20.
std::uint32_t degree(std::uint32_t v, std::uint32_t lt_symbols);

/// The tuple of section 5.3.5.4.
struct Tuple {
  std::uint32_t d, a, b, d1, a1, b1;

  bool operator==(const Tuple&) const = default;
};

/// The parameters of a block (section 5.3.3.3). An encoding symbol is named by its internal symbol id (ISI) here:
/// source symbols, then padding, then repair symbols.
struct BlockCode {
  std::uint32_t source_symbols;    // K
  std::uint32_t symbols;           // K': with padding
  std::uint32_t systematic_index;  // J
  std::uint32_t ldpc_symbols;      // S
  std::uint32_t hdpc_symbols;      // H
  std::uint32_t lt_symbols;        // W
  std::uint32_t intermediate;      // L
  std::uint32_t inactive;          // P: permanently inactive ones
  std::uint32_t inactive_prime;    // P1: the smallest prime that is no less
  std::uint32_t lt_only;           // B: LT symbols that are no LDPC symbols

  /// `source_symbols`: 1 to kBlockSymbolsMax.
  static BlockCode of(std::uint32_t source_symbols);

  /// The ISI of an encoding symbol by its id (ESI), as it is sent.
  std::uint32_t isi_of(std::uint32_t esi) const {
    return esi < source_symbols ? esi : esi + (symbols - source_symbols);
  }
  Tuple tuple(std::uint32_t isi) const;
  /// Appends the numbers of the intermediate symbols that add up to the encoding symbol (section 5.3.5.3). None is
  /// there twice but where the RFC adds it twice.
  void append_terms(std::uint32_t isi, std::vector<std::uint32_t>& terms) const;
};

}  // namespace spindle::codes
