// What an input of bulk_receiver_fuzz says: u8 symbols in the content, u8 limits (bit 0: no store; bit 1: a stream; the
// rest: symbols in memory), then steps of these kinds.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

/// A block has so many symbols, and a content so many at most (above 1 and modulo this).
inline constexpr unsigned kBulkBlockSymbols = 4, kBulkSymbolsMax = 40;

enum class BulkReceiverStep : std::uint8_t {
  symbol,   // u8 block, u16 ESI: a right one
  wrong,    // u8 block, u16 ESI: a wrong one, its CRC right
  corrupt,  // u8 block, u16 ESI: its CRC wrong
  block,    // u8 block: all its source symbols
  index,    // u8 first block, u8 blocks
  lie,      // u8 block: a wrong hash of it
  seal,
  false_seal,  // u8 symbols of the size
  take,        // takes a job, which is not run yet
  run,         // u8: which of those that were taken; runs and reports it
  fail,        // u8: likewise, but it cannot be done
  need,        // u8: milliseconds later
  restart,     // goes on with what was written
  bad,         // u8 block: it went bad on the disk; 0xff: all have
  count_
};

}  // namespace spindle_fuzz
