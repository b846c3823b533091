// What an input of raptorq_fuzz says: u8 source symbols, u8 bytes of each, u8 for the content, then steps of these
// kinds.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

/// Above 1 and modulo these.
inline constexpr unsigned kRaptorqSymbolsMax = 60, kRaptorqSymbolBytesMax = 9;

enum class RaptorqStep : std::uint8_t {
  source,   // u8 id: a source symbol
  encoded,  // u16, u8: id of any encoding symbol
  several,  // u16, u8: as many as there are source symbols, from that id on
  wrong,    // u16, u8 id; u8: a symbol of such octets
  decode,
  count_
};

}  // namespace spindle_fuzz
