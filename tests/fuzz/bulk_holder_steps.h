// What an input of bulk_holder_fuzz says: u8 symbols in the content, u8 kind (bit 0: a receiver; bit 1: a stream; the
// rest: blocks in memory), then steps of these kinds.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

/// A block has so many symbols, and a content so many at most (above 1 and modulo this).
inline constexpr unsigned kHeldBlockSymbols = 4, kHeldSymbolsMost = 40;

enum class BulkHolderStep : std::uint8_t {
  grant,      // u8 stream, u8 symbols
  need,       // u8 stream, u8 first blocks that are complete, u8 begun ones (modulo 8), of each u8 gap, u8 held
  release,    // u8 stream
  available,  // u8: blocks from 0 on
  lose,       // u8 block: is not available any more
  seal,
  take,  // takes a job, which is not run yet
  run,   // u8: which of those that were taken; runs and reports it
  fail,  // u8: likewise, but it cannot be read
  send,  // u8: so many symbols at most
  wait,  // u8: tens of milliseconds
  count_
};

}  // namespace spindle_fuzz
