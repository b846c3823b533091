// Content and checksums as in tests/unit/known_answers.
#pragma once

#include <cstdint>
#include <vector>

namespace spindle::test {

inline std::vector<std::uint8_t> content_of(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::uint8_t> content(bytes);
  for (std::uint8_t& octet : content) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    octet = static_cast<std::uint8_t>(seed >> 56);
  }
  return content;
}

/// CRC-32 as in zlib, going on from `crc`.
inline std::uint32_t crc32_of(std::uint32_t crc, const std::vector<std::uint8_t>& bytes) {
  crc = ~crc;
  for (const std::uint8_t octet : bytes) {
    crc ^= octet;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

}  // namespace spindle::test
