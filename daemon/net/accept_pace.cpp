#include "daemon/net/accept_pace.h"

#include <ctime>

namespace spindled {

namespace {

/// The processor's time that this thread has used.
std::chrono::nanoseconds time_worked() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void AcceptPace::accepted() {
  const auto now = Clock::now();
  // What came one by one is no flood.
  if (accepts_ > 0 && accepts_ < kAcceptsAtOnce && now - since_ >= kLongestRest) accepts_ = 0;
  if (accepts_++ > 0) return;
  since_ = now;
  worked_since_ = time_worked();
}

bool AcceptPace::has_rested() {
  const auto passed = Clock::now() - since_;
  if (passed < kLongestRest && 2 * (time_worked() - worked_since_) > passed) return false;
  accepts_ = 0;
  return true;
}

}  // namespace spindled
