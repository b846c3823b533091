// Octets one by one against their definition, and rows against octets.
#include "libclient/codes/gf256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

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

class RowKernelsTest : public testing::TestWithParam<std::size_t> {
 protected:
  using Row = std::vector<std::uint8_t>;

  const RowKernels& kernels() const { return all_row_kernels()[GetParam()]; }
  Row draw(std::size_t bytes) {
    Row row(bytes);
    for (std::uint8_t& octet : row) octet = static_cast<std::uint8_t>(random_());
    return row;
  }
  void SetUp() override {
    if (!kernels().is_usable()) GTEST_SKIP() << "this processor does not have " << kernels().name;
  }

  std::mt19937 random_{7};
};

TEST_P(RowKernelsTest, DoWhatOctetsSay) {
  for (std::size_t bytes = 0; bytes < 700; bytes += bytes < 70 ? 1 : 37) {
    for (std::size_t offset = 0; offset < 3; ++offset) {
      const Row before = draw(bytes + offset), from = draw(bytes + offset), third = draw(bytes + offset);
      const auto factor = static_cast<std::uint8_t>(random_());
      Row sum = before, multiple = before, product = before, of_three = before;
      const std::uint8_t* two[] = {sum.data() + offset, from.data() + offset};
      kernels().sum(sum.data() + offset, two, 2, bytes);
      kernels().add_multiple(multiple.data() + offset, from.data() + offset, bytes, factor);
      kernels().multiply(product.data() + offset, bytes, factor);
      Row product_and_more = before;
      kernels().multiply_add(product_and_more.data() + offset, from.data() + offset, bytes, factor);
      const std::uint8_t* rows[] = {of_three.data() + offset, from.data() + offset, third.data() + offset};
      kernels().sum(of_three.data() + offset, rows, 3, bytes);
      for (std::size_t i = 0; i < bytes + offset; ++i) {
        const bool is_in = i >= offset;
        ASSERT_EQ(sum[i], is_in ? before[i] ^ from[i] : before[i]);
        ASSERT_EQ(multiple[i], is_in ? before[i] ^ gf256::multiply(factor, from[i]) : before[i]);
        ASSERT_EQ(product[i], is_in ? gf256::multiply(factor, before[i]) : before[i]);
        ASSERT_EQ(product_and_more[i], is_in ? product[i] ^ from[i] : before[i]);
        ASSERT_EQ(of_three[i], is_in ? before[i] ^ from[i] ^ third[i] : before[i]);
      }
      kernels().sum(sum.data() + offset, nullptr, 0, bytes);
      ASSERT_TRUE(
          std::all_of(sum.begin() + static_cast<std::ptrdiff_t>(offset), sum.end(), [](auto x) { return x == 0; }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, RowKernelsTest, testing::Range(std::size_t{0}, all_row_kernels().size()),
                         [](const auto& test) { return std::string(all_row_kernels()[test.param].name); });

}  // namespace
}  // namespace spindle::codes
