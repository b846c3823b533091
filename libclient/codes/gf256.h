// Octets with the arithmetic of RFC 6330, section 5.7.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace spindle::codes {

/// GF(2^8) by the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11D). To add is to xor, and so is to subtract.
namespace gf256 {

struct Tables {
  std::array<std::uint8_t, 510> exp{};  // alpha^i, twice over
  std::array<std::uint8_t, 256> log{};  // of 0: nothing
};

constexpr Tables make_tables() {
  Tables tables;
  unsigned value = 1;
  for (unsigned i = 0; i < 255; ++i) {
    tables.exp[i] = tables.exp[i + 255] = static_cast<std::uint8_t>(value);
    tables.log[value] = static_cast<std::uint8_t>(i);
    value = (value << 1) ^ (value >= 128 ? 0x11du : 0u);
  }
  return tables;
}
inline constexpr Tables kTables = make_tables();

constexpr std::uint8_t power(unsigned exponent) { return kTables.exp[exponent % 255]; }
constexpr std::uint8_t multiply(std::uint8_t a, std::uint8_t b) {
  if (a == 0 || b == 0) return 0;
  return kTables.exp[kTables.log[a] + std::size_t{kTables.log[b]}];
}
/// Of what is not 0.
constexpr std::uint8_t invert(std::uint8_t a) { return kTables.exp[255u - kTables.log[a]]; }

}  // namespace gf256

}  // namespace spindle::codes
