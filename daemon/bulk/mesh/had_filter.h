// What a receiver has of a block, for a sender that is to send what it lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/bulk/mesh/symbol_id.h"

namespace spindled::mesh {

/// A Bloom filter: what was inserted it has, and of other symbols it seems to have some, 2 % with eight bits for each
/// that was inserted. Which ones these are depends on the salt, so that no symbol is withheld for long.
class HadFilter {
 public:
  static constexpr std::size_t kBitsPerSymbol = 8;
  static constexpr unsigned kHashes = 5;
  static constexpr std::size_t kBytesMax = 8u << 10;

  /// Has nothing.
  HadFilter() = default;
  /// For so many symbols, in no more than `bytes_max`.
  HadFilter(std::size_t symbols, std::uint16_t salt, std::size_t bytes_max = kBytesMax);
  /// As it came from a peer.
  HadFilter(std::vector<std::uint8_t> bits, std::uint16_t salt) : bits_(std::move(bits)), salt_(salt) {}

  void insert(std::uint32_t esi);
  bool has(std::uint32_t esi) const;

  std::uint16_t salt() const { return salt_; }
  const std::vector<std::uint8_t>& bits() const { return bits_; }

 private:
  template <typename Each>
  bool for_bits(std::uint32_t esi, Each&& each) const;

  std::vector<std::uint8_t> bits_;
  std::uint16_t salt_ = 0;
};

}  // namespace spindled::mesh
