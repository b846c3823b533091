// One direction of a delay line.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "bench/hosts/field/delay_line/tap.h"

namespace spindle::bench {

using Clock = std::chrono::steady_clock;

/// Takes frames from one device and gives them to another when `delay` has passed, in the order in which they came.
/// What does not fit into `room_bytes` is dropped and counted. Order of calls: `take` whenever `from` is readable, and
/// `give` when the time of `next` has come.
class Direction {
 public:
  Direction(Tap& from, Tap& to, Clock::duration delay, std::size_t room_bytes);

  Tap& from() { return from_; }
  /// When the first frame is due; the end of time where there is none.
  Clock::time_point next() const;
  /// Some of the frames that wait at `from`: those that the device holds at most at one time.
  void take();
  /// All frames that are due.
  void give();

  /// What has passed, as one object of JSON: `frames`, `dropped` for want of room, `refused` by the device, and how
  /// many microseconds frames came later than they were due, in the mean and at most.
  std::string counts() const;

 private:
  struct Frame {
    Clock::time_point due;
    std::vector<std::uint8_t> bytes;
  };

  Tap& from_;
  Tap& to_;
  Clock::duration delay_;
  std::size_t room_bytes_;
  std::size_t held_bytes_ = 0;
  std::deque<Frame> frames_;
  std::vector<std::uint8_t> space_;
  std::uint64_t given_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t refused_ = 0;
  Clock::duration late_sum_{};
  Clock::duration late_max_{};
};

}  // namespace spindle::bench
