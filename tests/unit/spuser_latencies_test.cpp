#include "tools/spuser/latencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "daemon/base/random.h"

namespace spuser {
namespace {

TEST(Latencies, NothingIsZero) {
  const Latencies latencies;
  EXPECT_EQ(latencies.total(), 0u);
  EXPECT_EQ(latencies.percentile(0.99), 0u);
}

TEST(Latencies, TheLargestNumbersHaveAPlace) {
  Latencies latencies;
  latencies.add(0);
  latencies.add(UINT64_MAX);
  EXPECT_EQ(latencies.percentile(0), 0u);
  EXPECT_EQ(latencies.percentile(1), UINT64_MAX);
}

TEST(Latencies, PercentilesAreNearThoseOfTheSortedList) {
  spindled::Random random(7);
  for (int round = 0; round < 50; ++round) {
    Latencies latencies;
    std::vector<std::uint64_t> all;
    for (std::uint64_t left = 1 + random.below(2000); left > 0; --left) {
      all.push_back(random.below(std::uint64_t{1} << random.below(40)));
      latencies.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double fraction : {0.0, 0.5, 0.9, 0.99}) {
      const std::uint64_t exact = all[static_cast<std::size_t>(fraction * static_cast<double>(all.size()))];
      EXPECT_GE(latencies.percentile(fraction), exact);
      EXPECT_LE(latencies.percentile(fraction), exact + exact / 64);
    }
    EXPECT_EQ(latencies.max(), all.back());
  }
}

}  // namespace
}  // namespace spuser
