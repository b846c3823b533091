// Which datagrams have come, and which part of them is lost.
#include "daemon/link/datagram_window.h"

#include <gtest/gtest.h>

#include "daemon/base/random.h"
#include "daemon/link/loss_meter.h"

namespace spindled {
namespace {

TEST(DatagramWindow, TakesEachNumberOnce) {
  DatagramWindow window;
  EXPECT_FALSE(window.is_new(0));
  for (const std::uint64_t number : {3u, 1u, 2u, 10u, 4u}) {
    EXPECT_TRUE(window.is_new(number)) << number;
    window.take(number);
    EXPECT_FALSE(window.is_new(number)) << number;
  }
  EXPECT_EQ(window.highest(), 10u);
  EXPECT_EQ(window.received(), 5u);
}

TEST(DatagramWindow, KnowsNothingOfWhatIsFarBehind) {
  DatagramWindow window;
  window.take(DatagramWindow::kSize + 1);
  EXPECT_TRUE(window.is_new(2));
  EXPECT_FALSE(window.is_new(1));
}

TEST(DatagramWindow, IsRightAboutAnyOrder) {
  Random random(1);
  DatagramWindow window;
  std::vector<bool> taken(20'000);
  std::uint64_t highest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t number = 1 + std::min<std::uint64_t>(random.below(6000) + highest / 2, taken.size() - 2);
    const bool is_far = number + DatagramWindow::kSize <= highest;
    ASSERT_EQ(window.is_new(number), !is_far && !taken[number]);
    if (!window.is_new(number)) continue;
    window.take(number);
    taken[number] = true;
    highest = std::max(highest, number);
  }
}

TEST(DatagramWindow, FindsTheWholeNumber) {
  DatagramWindow window;
  EXPECT_EQ(window.number_of(1), 1u);
  EXPECT_EQ(window.number_of(0xffffffff), 0u) << "there is none before the first";
  constexpr std::uint64_t kHigh = (std::uint64_t{5} << 32) - 2;
  window.take(kHigh);
  EXPECT_EQ(window.number_of(0xffffffff), kHigh + 1);
  EXPECT_EQ(window.number_of(3), kHigh + 5);
  EXPECT_EQ(window.number_of(0xfffffff0), kHigh - 14);
  EXPECT_EQ(window.number_of(0x7ffffff0), kHigh + 2 + 0x7ffffff0) << "as far ahead as may be";
}

TEST(LossMeter, MeasuresAShare) {
  LossMeter meter;
  for (std::uint64_t look = 1; look <= 200; ++look) meter.look(100 * look, 90 * look);
  EXPECT_NEAR(meter.share(), 0.1, 1e-9);
  for (std::uint64_t look = 1; look <= 400; ++look) meter.look(20'000 + 100 * look, 18'000 + 100 * look);
  EXPECT_LT(meter.share(), 0.001) << "what was long ago counts less";
}

TEST(LossMeter, SaysNothingOfAFew) {
  LossMeter meter;
  meter.look(7, 0);
  EXPECT_EQ(meter.share(), 0);
  meter.look(9, 0);
  EXPECT_EQ(meter.share(), 1);
}

TEST(LossMeter, TakesTheNewestLookOnly) {
  LossMeter meter;
  meter.look(1000, 1000);
  meter.look(900, 100);
  EXPECT_EQ(meter.share(), 0);
}

TEST(LossMeter, CountsWhatComesLate) {
  LossMeter meter;
  meter.look(1000, 900);
  meter.look(2000, 2000);
  EXPECT_EQ(meter.share(), 0);
}

TEST(LossMeter, GoesOnWhereTheLowestBitsWrap) {
  LossMeter meter;
  std::uint32_t sent = 0, came = 0;
  for (int look = 0; look < 100; ++look) meter.look_at_bits(sent += 0x10000000, came += 0x8000000);
  EXPECT_NEAR(meter.share(), 0.5, 1e-9);
}

}  // namespace
}  // namespace spindled
