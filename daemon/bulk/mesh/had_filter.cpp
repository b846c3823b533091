#include "daemon/bulk/mesh/had_filter.h"

#include <algorithm>

namespace spindled::mesh {

HadFilter::HadFilter(std::size_t symbols, std::uint16_t salt, std::size_t bytes_max)
    : bits_(std::min({(symbols * kBitsPerSymbol + 7) / 8, bytes_max, kBytesMax})), salt_(salt) {}

/// Until one of them says false.
template <typename Each>
bool HadFilter::for_bits(std::uint32_t esi, Each&& each) const {
  const std::uint64_t count = 8 * bits_.size();
  const std::uint64_t hash = mix(std::uint64_t{salt_} << 32 | esi);
  const std::uint64_t step = (hash >> 32) | 1;
  std::uint64_t place = hash & UINT32_MAX;
  for (unsigned i = 0; i < kHashes; ++i, place += step) {
    if (!each(static_cast<std::size_t>(place % count))) return false;
  }
  return true;
}

void HadFilter::insert(std::uint32_t esi) {
  if (bits_.empty()) return;
  for_bits(esi, [&](std::size_t bit) {
    bits_[bit / 8] = static_cast<std::uint8_t>(bits_[bit / 8] | 1u << bit % 8);
    return true;
  });
}

bool HadFilter::has(std::uint32_t esi) const {
  return !bits_.empty() && for_bits(esi, [&](std::size_t bit) { return (bits_[bit / 8] >> bit % 8 & 1) != 0; });
}

}  // namespace spindled::mesh
