// How much of what is written on a link the kernel may keep waiting.
#pragma once

#include <cstddef>

#include "daemon/base/time.h"

namespace spindled {

/// What the kernel holds unsent waits out of sight: control frames do not overtake it, and it is missing from the
/// length of the link's queue, which prices are made of. So it is kept to what the link carries in about the time that
/// the daemon needs to bring more. That time is short, but a fast link carries much in it, and a slow one little: the
/// mark follows the rate that the connection is seen to take while it is full.
///
/// Order of calls: `filled` when a write has found no more room, then `drained` when there is room again.
class UnsentMark {
 public:
  /// Two full segments of an Ethernet: with less TCP would wait for the daemon each time that it may send.
  static constexpr std::size_t kMin = 2 * 1460;
  static constexpr std::size_t kFirst = 16u << 10;
  static constexpr std::size_t kMax = 128u << 10;

  std::size_t bytes() const { return bytes_; }

  /// `unsent`: what the kernel had unsent before the write that was cut short, and what it took of that one.
  void filled(Time now, std::size_t unsent);
  /// Whether `bytes` has changed.
  bool drained(Time now, std::size_t unsent);

 private:
  std::size_t bytes_ = kFirst;
  Time filled_at_{};
  std::size_t unsent_ = 0;  // then
  // Sums over the times that the connection was full, the older counting less: their quotient is the rate.
  double taken_bytes_ = 0;
  double taken_seconds_ = 0;
};

}  // namespace spindled
