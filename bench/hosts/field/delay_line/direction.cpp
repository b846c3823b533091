#include "bench/hosts/field/delay_line/direction.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindle::bench {

namespace {

constexpr std::size_t kFrameMax = 64u << 10;
/// As many as a device holds (`txqueuelen`), so that one direction does not keep the other from its turn.
constexpr int kFramesAtOnce = 500;

double to_us(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

}  // namespace

Direction::Direction(Tap& from, Tap& to, Clock::duration delay, std::size_t room_bytes)
    : from_(from), to_(to), delay_(delay), room_bytes_(room_bytes), space_(kFrameMax) {}

Clock::time_point Direction::next() const { return frames_.empty() ? Clock::time_point::max() : frames_.front().due; }

void Direction::take() {
  for (int i = 0; i < kFramesAtOnce; ++i) {
    const auto frame = from_.read(space_);
    if (!frame) return;
    if (held_bytes_ + frame->size() > room_bytes_) {
      ++dropped_;
      continue;
    }
    held_bytes_ += frame->size();
    frames_.push_back({Clock::now() + delay_, {frame->begin(), frame->end()}});
  }
}

void Direction::give() {
  while (!frames_.empty()) {
    const Frame& frame = frames_.front();
    const Clock::duration late = Clock::now() - frame.due;
    if (late < Clock::duration::zero()) return;
    if (to_.write(frame.bytes)) {
      ++given_;
    } else {
      ++refused_;
    }
    late_sum_ += late;
    late_max_ = std::max(late_max_, late);
    held_bytes_ -= frame.bytes.size();
    frames_.pop_front();
  }
}

std::string Direction::counts() const {
  const auto frames = static_cast<double>(std::max<std::uint64_t>(1, given_ + refused_));
  return fmt::format(R"({{"frames": {}, "dropped": {}, "refused": {}, "late_us_mean": {:.0f}, "late_us_max": {:.0f}}})",
                     given_, dropped_, refused_, to_us(late_sum_) / frames, to_us(late_max_));
}

}  // namespace spindle::bench
