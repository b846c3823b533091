// Octets by their bits against octets.
#include "libclient/codes/bit_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "libclient/codes/gf256.h"

namespace spindle::codes {
namespace {

TEST(BitRows, HaveTheirBits) {
  BitRows rows(3, 130);
  EXPECT_EQ(rows.first(1), BitRows::kNone);
  rows.flip(1, 129);
  rows.flip(1, 64);
  rows.flip(2, 129);
  EXPECT_EQ(rows.first(1), 64u);
  rows.add(1, 2);
  EXPECT_TRUE(rows.has(1, 64));
  EXPECT_FALSE(rows.has(1, 129));
  EXPECT_TRUE(rows.has(2, 129));
  std::vector<std::size_t> columns;
  rows.for_each(1, [&](std::size_t column) { columns.push_back(column); });
  EXPECT_EQ(columns, std::vector<std::size_t>{64});
}

TEST(OctetPlanes, DoWhatOctetsSay) {
  std::mt19937 random(4);
  for (const std::size_t columns : {1u, 63u, 64u, 65u, 200u}) {
    OctetPlanes planes(columns), sum(columns);
    std::vector<std::uint8_t> octets((columns + 63) / 64 * 64, 0), octets_sum(octets);
    for (int step = 0; step < 100; ++step) {
      planes.multiply_by_alpha();
      for (std::uint8_t& octet : octets) octet = gf256::multiply(octet, 2);
      BitRows bits(1, columns);
      for (std::size_t i = 0; i < columns; ++i) {
        if (random() % 2 == 0) continue;
        bits.flip(0, i);
        octets[i] ^= 1;
      }
      planes.add(bits.row(0));
      const std::size_t column = random() % columns;
      planes.flip(column);
      octets[column] ^= 1;
      sum.add(planes);
      for (std::size_t i = 0; i < octets.size(); ++i) octets_sum[i] ^= octets[i];
      ASSERT_EQ(planes.octets(), octets);
      ASSERT_EQ(sum.octets(), octets_sum);
    }
  }
}

}  // namespace
}  // namespace spindle::codes
