// The clock that all processes of a measurement share: they run on one machine.
#pragma once

#include <time.h>

#include <cerrno>
#include <cstdint>

namespace spindle::bench {

/// Nanoseconds of CLOCK_MONOTONIC.
inline std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline void sleep_until(std::int64_t when_ns) {
  const timespec time{when_ns / 1'000'000'000, when_ns % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace spindle::bench
