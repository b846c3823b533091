// How much of a link's bytes the kernel may keep waiting, by the rate that the link is seen to take.
#include "daemon/net/unsent_mark.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

/// A connection that sends at a rate and is always offered more: the daemon fills it up to the mark, and hears that
/// there is room when half of that has left.
class FullLink {
 public:
  explicit FullLink(double bytes_per_second) : rate_(bytes_per_second) {}

  void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }
  const UnsentMark& mark() const { return mark_; }

  /// Fills and drains it once. The daemon is told `late`. Whether the mark has changed.
  bool fill(Duration late = 20us) {
    const std::size_t filled = mark_.bytes();
    mark_.filled(now_, filled);
    const double half = static_cast<double>(filled) / 2;
    const Duration full = from_seconds(half / rate_) + late;
    now_ += full;
    const auto taken = static_cast<std::size_t>(rate_ * to_seconds(full));
    return mark_.drained(now_, filled - std::min(filled, taken));
  }

  void fill_for(Duration span) {
    for (const Time end = now_ + span; now_ < end;) fill();
  }

 private:
  UnsentMark mark_;
  Time now_{};
  double rate_;
};

TEST(UnsentMark, ALinkOfTwoMegabitsHoldsSomeMilliseconds) {
  FullLink link(250e3);
  link.fill_for(500ms);
  EXPECT_GE(link.mark().bytes(), UnsentMark::kMin);
  EXPECT_LE(link.mark().bytes(), 250'000u / 50);  // 20 ms
}

TEST(UnsentMark, AVerySlowLinkStillHoldsTwoSegments) {
  FullLink link(4e3);
  link.fill_for(60s);
  EXPECT_EQ(link.mark().bytes(), UnsentMark::kMin);
}

TEST(UnsentMark, AFastLinkIsAtTheTopAfterAFewWrites) {
  FullLink link(1e9);
  for (int writes = 0; writes < 4; ++writes) link.fill();
  EXPECT_EQ(link.mark().bytes(), UnsentMark::kMax);
  EXPECT_FALSE(link.fill());
}

TEST(UnsentMark, AFastLinkStaysAtTheTopWhenTheDaemonIsLate) {
  FullLink link(125e6);
  for (int writes = 0; writes < 100; ++writes) link.fill(5ms);
  EXPECT_EQ(link.mark().bytes(), UnsentMark::kMax);
}

TEST(UnsentMark, FollowsTheRateInBothDirections) {
  FullLink link(1e9);
  link.fill_for(100ms);
  link.set_rate(250e3);
  link.fill_for(2s);
  EXPECT_LE(link.mark().bytes(), 5000u);
  link.set_rate(1e9);
  link.fill_for(20ms);
  EXPECT_EQ(link.mark().bytes(), UnsentMark::kMax);
}

TEST(UnsentMark, WhatLeavesAtOnceAfterARestIsNotTheRate) {
  FullLink link(250e3);
  link.fill_for(500ms);
  const std::size_t settled = link.mark().bytes();
  link.set_rate(1e9);
  link.fill();
  EXPECT_LE(link.mark().bytes(), 2 * settled);
  link.set_rate(250e3);
  link.fill_for(500ms);
  EXPECT_LE(link.mark().bytes(), 5000u);
}

TEST(UnsentMark, AConnectionThatStandsStillIsHeldToTheLeast) {
  UnsentMark mark;
  mark.filled(Time(1s), UnsentMark::kFirst);
  EXPECT_TRUE(mark.drained(Time(2s), UnsentMark::kFirst));
  EXPECT_EQ(mark.bytes(), UnsentMark::kMin);
}

TEST(UnsentMark, NoTimeAtAllIsFast) {
  UnsentMark mark;
  mark.filled(Time(1s), UnsentMark::kFirst);
  EXPECT_TRUE(mark.drained(Time(1s), 0));
  EXPECT_EQ(mark.bytes(), 2 * UnsentMark::kFirst);
}

TEST(UnsentMark, SmallChangesAreNone) {
  FullLink link(2e6);
  link.fill_for(500ms);
  const std::size_t settled = link.mark().bytes();
  link.set_rate(2.2e6);
  for (int writes = 0; writes < 20; ++writes) EXPECT_FALSE(link.fill());
  EXPECT_EQ(link.mark().bytes(), settled);
}

}  // namespace
}  // namespace spindled
