// Rows against octets, with the kernels of each processor.
#include "libclient/codes/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "libclient/codes/gf256.h"

namespace spindle::codes {
namespace {

using Row = std::vector<std::uint8_t>;

class RowKernelsTest : public testing::TestWithParam<std::size_t> {
 protected:
  const RowKernels& kernels() const { return all_row_kernels()[GetParam()]; }
  Row draw(std::size_t bytes) {
    Row row(bytes);
    for (std::uint8_t& octet : row) octet = static_cast<std::uint8_t>(random_());
    return row;
  }
  std::uint8_t draw_factor() { return static_cast<std::uint8_t>(random_()); }
  void SetUp() override {
    if (!kernels().is_usable()) GTEST_SKIP() << "this processor does not have " << kernels().name;
  }
  /// Of sizes that fill registers and that do not, from places that are aligned and that are not.
  template <typename Check>
  void for_each_size(Check&& check) {
    for (std::size_t bytes = 0; bytes < 700; bytes += bytes < 70 ? 1 : 37) {
      for (std::size_t offset = 0; offset < 3; ++offset) check(bytes, offset);
    }
  }

  std::mt19937 random_{7};
};

TEST_P(RowKernelsTest, Sum) {
  for_each_size([&](std::size_t bytes, std::size_t offset) {
    constexpr std::uint32_t kRows = 6;
    const std::size_t stride = bytes + offset;
    const Row before = draw(offset + kRows * stride);
    for (const std::vector<std::uint32_t>& numbers :
         {std::vector<std::uint32_t>{}, {4}, {2}, {0, 5}, {2, 3}, {1, 2, 3, 4, 5}}) {
      Row rows = before;
      std::uint8_t* to = rows.data() + offset + 2 * stride;
      kernels().sum(to, {rows.data() + offset, stride}, numbers, bytes);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t at = i - (offset + 2 * stride);
        std::uint8_t expected = before[i];
        if (i >= offset + 2 * stride && at < bytes) {
          expected = 0;
          for (const std::uint32_t number : numbers) expected ^= before[offset + number * stride + at];
        }
        ASSERT_EQ(rows[i], expected) << bytes << " octets";
      }
    }
  });
}

TEST_P(RowKernelsTest, Multiples) {
  for_each_size([&](std::size_t bytes, std::size_t offset) {
    const Row before = draw(bytes + offset), from = draw(bytes + offset);
    const std::uint8_t factor = draw_factor();
    Row sum = before, product = before;
    kernels().add_multiple(sum.data() + offset, from.data() + offset, bytes, factor);
    kernels().multiply(product.data() + offset, bytes, factor);
    for (std::size_t i = 0; i < bytes + offset; ++i) {
      const bool is_in = i >= offset;
      ASSERT_EQ(sum[i], is_in ? before[i] ^ gf256::multiply(factor, from[i]) : before[i]);
      ASSERT_EQ(product[i], is_in ? gf256::multiply(factor, before[i]) : before[i]);
    }
  });
}

TEST_P(RowKernelsTest, Accumulate) {
  for_each_size([&](std::size_t bytes, std::size_t offset) {
    const Row before = draw(bytes + offset), more = draw(bytes + offset), a = draw(bytes + offset),
              b = draw(bytes + offset);
    const std::uint8_t factor = draw_factor();
    Row row = before, to_a = a, to_b = b;
    kernels().accumulate(row.data() + offset, more.data() + offset, to_a.data() + offset, to_b.data() + offset, bytes,
                         factor);
    for (std::size_t i = 0; i < bytes + offset; ++i) {
      const bool is_in = i >= offset;
      const auto sum = static_cast<std::uint8_t>(gf256::multiply(factor, before[i]) ^ more[i]);
      ASSERT_EQ(row[i], is_in ? sum : before[i]);
      ASSERT_EQ(to_a[i], is_in ? a[i] ^ sum : a[i]);
      ASSERT_EQ(to_b[i], is_in ? b[i] ^ sum : b[i]);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, RowKernelsTest, testing::Range(std::size_t{0}, all_row_kernels().size()),
                         [](const auto& test) { return std::string(all_row_kernels()[test.param].name); });

}  // namespace
}  // namespace spindle::codes
