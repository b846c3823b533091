// Octets against their definition.
#include "libclient/codes/gf256.h"

#include <gtest/gtest.h>

namespace spindle::codes {
namespace {

/// RFC 6330, section 5.7: polynomials over GF(2), modulo x^8 + x^4 + x^3 + x^2 + 1.
std::uint8_t product_by_definition(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1, a <<= 1) {
    if ((b & 1) != 0) product ^= a;
  }
  for (unsigned bit = 15; bit >= 8; --bit) {
    if ((product >> bit & 1) != 0) product ^= 0x11du << (bit - 8);
  }
  return static_cast<std::uint8_t>(product);
}

TEST(Gf256, MultipliesAsDefined) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      // The product of two octets has 15 bits.
      ASSERT_EQ(gf256::multiply(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)),
                product_by_definition(a, b));
    }
  }
}

TEST(Gf256, InvertsAndRaises) {
  for (unsigned a = 1; a < 256; ++a) {
    const auto octet = static_cast<std::uint8_t>(a);
    EXPECT_EQ(gf256::multiply(octet, gf256::invert(octet)), 1);
  }
  std::uint8_t power = 1;
  for (unsigned i = 0; i < 600; ++i) {
    ASSERT_EQ(gf256::power(i), power);
    power = gf256::multiply(power, 2);
  }
}

}  // namespace
}  // namespace spindle::codes
