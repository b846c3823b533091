// How much the ring of a channel holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/time.h"
#include "daemon/bulk/relay/symbol_ring.h"

namespace spindled {

/// What comes in a tenth of a second, or in four round trips to an upstream, between a mebibyte and 16, and no more
/// than there is memory for.
class RingSize {
 public:
  static constexpr std::size_t kBytesMin = 1u << 20;
  static constexpr std::size_t kBytesMax = 16u << 20;

  explicit RingSize(std::uint32_t symbol_bytes) : symbol_bytes_(symbol_bytes) {}

  /// In symbols, before anything has come.
  std::size_t first() const { return symbols(kBytesMin); }
  /// What a ring has beyond that is overwritten.
  void set_bytes_max(std::size_t bytes, SymbolRing& ring);
  /// The ring follows what has come, now and then.
  void follow(Time now, Duration longest_round_trip, SymbolRing& ring);

 private:
  std::size_t symbols(std::size_t bytes) const;

  std::uint32_t symbol_bytes_;
  std::size_t bytes_max_ = kBytesMax;
  std::uint64_t arrived_ = 0;  // when that was looked at last, SymbolRing::end
  Time at_{};
};

}  // namespace spindled
