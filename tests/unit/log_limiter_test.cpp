// How many lines of a kind reach the log.
#include "daemon/net/log_limiter.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

using namespace std::chrono_literals;

constexpr LogLimiter::Kind kVisit{"session", "client {} from {}"};
constexpr LogLimiter::Kind kRefusal{"link", "connection from {} refused: {}"};
constexpr LogLimiter::Time kStart{100h};

int admitted(LogLimiter& limiter, const LogLimiter::Kind& kind, LogLimiter::Time now, int lines) {
  int count = 0;
  for (int i = 0; i < lines; ++i) count += limiter.admit(kind, LogLevel::info, now) ? 1 : 0;
  return count;
}

TEST(LogLimiter, AMinuteMayHaveItsLinesAtOnceAndThenSlowly) {
  LogLimiter limiter(60);
  EXPECT_EQ(admitted(limiter, kVisit, kStart, 1000), 60);
  EXPECT_EQ(admitted(limiter, kVisit, kStart + 10s, 1000), 10);
  EXPECT_EQ(admitted(limiter, kVisit, kStart + 1h, 1000), 60);
}

TEST(LogLimiter, KindsAreLimitedEachForItself) {
  LogLimiter limiter(5);
  EXPECT_EQ(admitted(limiter, kVisit, kStart, 10), 5);
  EXPECT_EQ(admitted(limiter, kRefusal, kStart, 10), 5);
}

TEST(LogLimiter, NoLimit) {
  LogLimiter limiter(0);
  EXPECT_EQ(admitted(limiter, kVisit, kStart, 100'000), 100'000);
  EXPECT_FALSE(limiter.next_summary());
}

TEST(LogLimiter, WhatIsLeftOutIsToldOnce) {
  LogLimiter limiter(5);
  admitted(limiter, kVisit, kStart, 5);
  EXPECT_FALSE(limiter.next_summary());
  admitted(limiter, kVisit, kStart + 1s, 7);
  ASSERT_EQ(limiter.next_summary(), kStart + 1s + LogLimiter::kSummaryDelay);
  EXPECT_TRUE(limiter.take_summaries(kStart + 2s).empty());
  const auto summaries = limiter.take_summaries(*limiter.next_summary());
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].kind, kVisit);
  EXPECT_EQ(summaries[0].lines, 7u);
  EXPECT_EQ(summaries[0].span, LogLimiter::kSummaryDelay);
  EXPECT_FALSE(limiter.next_summary());
  EXPECT_TRUE(limiter.take_summaries(kStart + 1h).empty());
}

TEST(LogLimiter, AllSummariesCanBeHadBeforeTheyAreDue) {
  LogLimiter limiter(1);
  admitted(limiter, kVisit, kStart, 2);
  admitted(limiter, kRefusal, kStart, 3);
  EXPECT_EQ(limiter.take_summaries(kStart, true).size(), 2u);
  EXPECT_FALSE(limiter.next_summary());
}

}  // namespace
}  // namespace spindled
