#include "daemon/admission/link_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spindled {

namespace {
/// What is older than this, so many packets or round trips, counts for little.
constexpr double kMemoryS = 0.15;
constexpr double kMemoryPackets = 48;
constexpr double kMemoryRoundTrips = 2;
/// What was carried counts after so long, and so many packets.
constexpr Duration kCarriedSpan = 50ms;
constexpr double kCarriedPackets = 64;
/// Where the rate is known from queues it is so much more before it counts: it comes in bursts.
constexpr double kCarriedMore = 1.1;
/// The rate is another one beyond doubt where what leaves over a round trip or more is less than kSlower of what is
/// expected, or more than kFaster of it, by so many frames in all. Windows of TCP come and go within these bounds.
constexpr double kSlower = 0.6, kFaster = 1.6;
constexpr double kSureFrames = 12;
/// A link that takes fewer frames than that in this time is held up: that is no rate.
constexpr double kFramesLeast = 4;
/// Frames whose mean length is remembered.
constexpr double kFramesRemembered = 64;
}  // namespace

void LinkRate::start(Time now, Duration round_trip, std::uint64_t departed, std::uint64_t squares) {
  round_trip_ = round_trip;
  seen_at_ = carried_since_ = now;
  departed_ = departed;
  squares_ = squares;
  waiting_ = 0;
  stood_ = uncounted_ = Duration::zero();
  uncounted_left_ = stood_left_ = carried_ = 0;
}

void LinkRate::observe(Time now, std::size_t waiting, std::uint64_t departed, std::uint64_t squares) {
  const auto left = static_cast<double>(departed - std::exchange(departed_, departed));
  const auto squares_left = static_cast<double>(squares - std::exchange(squares_, squares));
  if (squares_left > 0 || left > 0) {
    const double kept = std::exp(-left / (kFramesRemembered * packets_per_frame_));
    recent_packets_ = recent_packets_ * kept + left;
    recent_squares_ = recent_squares_ * kept + squares_left;
    packets_per_frame_ = std::max(1.0, recent_squares_ / recent_packets_);
  }
  if (left > 0) count_carried(now, left);
  if (waiting_ > 0) {
    count_standing(now, left);
  } else {
    stood_ = uncounted_ = Duration::zero();
    uncounted_left_ = stood_left_ = 0;
    slower_ = faster_ = {};
  }
  waiting_ = waiting;
  seen_at_ = now;
}

double LinkRate::packets_per_s() const {
  if (is_timed() || stood_ <= Duration::zero()) return rate_;
  // A packet is not through yet, but it will be.
  return std::max(rate_, std::max(1.0, stood_left_) / to_seconds(stood_));
}

double LinkRate::memory_s() const {
  return std::max({kMemoryS, kMemoryRoundTrips * to_seconds(round_trip_), kMemoryPackets / std::max(rate_, 1.0)});
}

void LinkRate::count_standing(Time now, double left) {
  stood_ += now - seen_at_;
  uncounted_ += now - seen_at_;
  uncounted_left_ += left;
  stood_left_ += left;
  if (stood_ < (is_timed() ? kStands : std::max(kStands, round_trip_)) || uncounted_ < kStands / 8) return;
  const double span_s = to_seconds(std::exchange(uncounted_, Duration::zero()));
  const double span_left = std::exchange(uncounted_left_, 0);
  const double kept = std::exp(-span_s / memory_s());
  busy_s_ = busy_s_ * kept + span_s;
  busy_left_ = busy_left_ * kept + span_left;
  look_for_change(span_s, span_left);
  if (busy_left_ > 0) rate_ = busy_left_ / busy_s_;
}

void LinkRate::look_for_change(double span_s, double left) {
  if (!is_timed()) return;
  const double expected = rate_ * span_s;
  note_deviation(slower_, kSlower * expected - left, span_s, left);
  note_deviation(faster_, left - kFaster * expected, span_s, left);
}

void LinkRate::note_deviation(Deviation& deviation, double packets, double span_s, double left) {
  deviation.packets += packets;
  deviation.span_s += span_s;
  deviation.left += left;
  if (deviation.packets <= 0) deviation = {};
  const bool is_sure = deviation.packets > kSureFrames * packets_per_frame_ &&
                       deviation.left >= kFramesLeast * packets_per_frame_ &&
                       deviation.span_s >= to_seconds(std::max(kStands, round_trip_));
  if (!is_sure) return;
  busy_s_ = deviation.span_s;
  busy_left_ = deviation.left;
  slower_ = faster_ = {};
}

void LinkRate::count_carried(Time now, double left) {
  carried_ += left;
  const Duration span = now - carried_since_;
  if (span < kCarriedSpan || carried_ < kCarriedPackets) return;
  const double rate = std::exchange(carried_, 0) / to_seconds(span);
  carried_since_ = now;
  if (rate <= rate_ * (is_timed() ? kCarriedMore : 1)) return;
  rate_ = rate;
  busy_left_ = rate * busy_s_;
}

}  // namespace spindled
