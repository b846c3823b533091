// Which symbol of a content.
#pragma once

#include <compare>
#include <cstdint>

namespace spindled::mesh {

struct SymbolId {
  std::uint32_t block = 0;
  std::uint32_t esi = 0;  // its number among the encoding symbols of the block; below 2^24

  auto operator<=>(const SymbolId&) const = default;
};

/// All bits of the result depend on all bits of the value (the finalizer of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}
constexpr std::uint64_t key_of(SymbolId symbol) { return std::uint64_t{symbol.block} << 32 | symbol.esi; }

}  // namespace spindled::mesh
