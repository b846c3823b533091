#include "daemon/bulk/hop_rate.h"

#include <utility>

#include "daemon/link/link_limits.h"

namespace spindled {

namespace {

/// What is left of a rate that ordered messages wait for.
constexpr double kDecrease = 0.7;
/// The same where content has just begun.
constexpr double kDecreaseAtBegin = 0.5;
/// What a rate grows by, of what the path carries,
constexpr double kIncrease = 0.02;
/// and of what it fell by.
constexpr double kComeBack = 2.0 / 3;
/// A rate beyond so many times what the path carries limits nothing.
constexpr double kAboveAll = 1.1;
/// The part of an interval from which on the link counts as having waited.
constexpr double kWaitedShare = 0.7;
/// Bytes a second, for paths of which nothing is known, and those that carry next to nothing.
constexpr double kRateLeast = 16u << 10;
/// What may be sent at once after a pause, in the time that it takes at the rate.
constexpr Duration kBurst = 10ms;

/// What a round trip may be longer by beside ordered messages.
Duration shared_delay(double path_bytes_per_second) {
  const double seconds = HopRate::kSharedBytes / std::max(path_bytes_per_second, 1.0);
  return std::max(HopRate::kSharedDelay, from_seconds(std::min(seconds, to_seconds(HopRate::kDelayMax))));
}

}  // namespace

void HopRate::start(Time now, const Path& path, Time since) {
  before_ = path;
  counted_at_ = since;
  adjusted_at_ = now;
  most_carried_ = 0;
  waited_share_ = 0;
  least_round_trip_ = Duration::max();
  window_ = {};
  is_idle_ = true;
  measure(path);
}

void HopRate::begin(Time now, std::uint64_t message_packets, double share) {
  is_idle_ = false;
  const bool is_beside_messages = now < shared_until_ || message_packets != before_.message_packets;
  const bool has_looked = std::exchange(is_looking_, !is_beside_messages && now - counted_at_ < kLook);
  if (!is_beside_messages && !is_looking_) {
    if (has_looked) end_beginning();
    return;
  }
  if (is_limited() || share >= 1) return;
  rate_ = kRateAtBegin;
  allowed_ = {0, now};
  is_beginning_ = fell_for_messages_ = true;
}

void HopRate::measure(const Path& path) {
  if (path.shortest != Duration::zero()) {
    shortest_ = path.shortest;
  } else if (path.round_trip != Duration::zero()) {
    shortest_ = shortest_ == Duration::zero() ? path.round_trip : std::min(shortest_, path.round_trip);
  }
}

void HopRate::note_hop(Time now, std::size_t in_flight, Duration round_trip) {
  window_.flight = static_cast<double>(in_flight);
  window_.seen_at = now;
  if (round_trip != Duration::zero()) least_round_trip_ = std::min(least_round_trip_, round_trip);
}

void HopRate::note_link(Time now, bool waits) {
  if (waits_since_) waited_ += now - *waits_since_;
  waits_since_ = waits ? std::optional(now) : std::nullopt;
}

bool HopRate::adjust(Time now, Path path, std::uint64_t capacity, double share) {
  const Duration interval = now - adjusted_at_;
  if (interval <= Duration::zero()) return false;
  note_link(now, waits_since_.has_value());
  path.round_trip = std::min(path.round_trip, std::exchange(least_round_trip_, Duration::max()));
  const double seconds = to_seconds(interval);
  const double waited_before = std::exchange(waited_share_, to_seconds(waited_) / seconds);
  const double waited_part = (waited_before + waited_share_) / 2;
  const bool has_waited = waited_part >= kWaitedShare;
  const double carried = static_cast<double>(path.bulk_bytes - before_.bulk_bytes) / seconds;
  const double both = carried + static_cast<double>(path.ordered_bytes - before_.ordered_bytes) / seconds;
  most_carried_ = std::max(most_carried_, both);
  const double whole = std::max(capacity != 0 ? static_cast<double>(capacity) : most_carried_, kRateLeast);
  least_ = share < 1 ? std::max(share * whole, kRateLeast) : 0;
  measure(path);
  const auto packets = static_cast<double>(path.message_packets - before_.message_packets);
  if (packets * kPacketBytes / seconds > kSharedPart * whole) shared_until_ = now + kSharedFor;
  const bool is_shared = now < shared_until_;
  const Duration delay_max = shortest_ + (is_shared ? 5 * shared_delay(whole) / 4 : kDelayMaxAlone);
  const Duration standing =
      before_.round_trip == Duration::zero() ? path.round_trip : std::min(before_.round_trip, path.round_trip);
  const bool is_delayed = both > 0 && standing > delay_max;
  set_window(whole, standing, share);
  // What has piled up before is leaving: soon enough, where that is a queue of the path.
  const bool is_shrinking = path.ordered_waiting < before_.ordered_waiting;
  const bool is_draining = 2 * (before_.round_trip - path.round_trip) >= path.round_trip - delay_max;
  const bool is_leaving = (!has_waited || is_shrinking) && (!is_delayed || is_draining);
  if (packets != 0) counted_at_ = now;
  before_ = path;
  adjusted_at_ = now;
  waited_ = {};
  is_idle_ = carried < kRateLeast;
  if (share < 1 && (has_waited || is_delayed)) {
    // It is not the hop that is waited for.
    if (!is_limited() && is_idle_) return false;
    // Or what was sent before it fell is still on its way.
    if (is_leaving || now - fell_at_ < path.round_trip) return false;
    const double delayed = is_delayed ? to_seconds(delay_max) / to_seconds(standing) : 1;
    const double waited = has_waited ? 1 - (1 - kDecrease) * waited_part * waited_part : 1;
    const double factor = std::max(kDecrease, std::min(waited, delayed));
    const double fallen = std::max(std::min(factor * std::min(rate_, std::max(carried, least_)),
                                            is_beginning_ ? kDecreaseAtBegin * rate_ : kUnlimited),
                                   least_);
    if (fallen >= rate_) return false;
    fell_for_messages_ = is_shared && (fell_for_messages_ || !is_limited());
    fell_from_ = std::min(rate_, carried);
    is_beginning_ = false;
    rate_ = fallen;
    fell_at_ = now;
    return true;
  }
  if (!is_limited()) return false;
  if (share >= 1 || (fell_for_messages_ && !is_shared) || (is_beginning_ && is_idle_)) {
    end_beginning();
    return false;
  }
  if (is_beginning_) {
    // What is hardly used says nothing.
    if (carried < rate_ / 4) return false;
    const double most = capacity != 0 ? std::max(rate_, whole) : kUnlimited;
    rate_ = std::min(2 * rate_, most);
    is_beginning_ = rate_ < most;
    return false;
  }
  rate_ += std::max(kIncrease * whole, kComeBack * (fell_from_ - rate_));
  if (rate_ > kAboveAll * whole) rate_ = kUnlimited;
  return false;
}

void HopRate::set_window(double whole, Duration standing, double share) {
  window_.drain = is_beginning_ ? std::max(whole, 2 * rate_) : whole;
  const Duration queue = shared_delay(whole) / 2;
  // Where no queue stands the path may carry more than it was seen to.
  const Duration more = standing < shortest_ + queue ? shortest_ / 4 : Duration::zero();
  window_.most = share < 1 ? window_.drain * to_seconds(shortest_ + more + queue) : 0;
}

bool HopRate::may_send(Time now, bool link_waits) {
  link_waits_ = link_waits && least_ > 0;
  if (link_waits_ && !least_allowed_.is_there(now, least_, 0)) return false;
  if (now < shared_until_ && window_.is_full()) return false;
  return !is_limited() || allowed_.is_there(now, rate_, rate_ * to_seconds(kBurst));
}

Time HopRate::next_at() const {
  const Time least_at =
      std::max(link_waits_ ? least_allowed_.next_at(least_) : Time{}, window_.is_full() ? window_.open_at() : Time{});
  if (!is_limited()) return least_at;
  const Time earned_at = std::max(least_at, allowed_.next_at(rate_));
  const Time looked_at = counted_at_ + kLook;
  return is_looking_ && looked_at > allowed_.credited_at ? std::min(looked_at, earned_at) : earned_at;
}

bool HopRate::Allowance::is_there(Time now, double rate, double most) {
  credit = std::min(credit + rate * to_seconds(now - std::exchange(credited_at, now)), most);
  return credit >= 0;
}

Time HopRate::Allowance::next_at(double rate) const {
  return credit >= 0 ? credited_at : credited_at + from_seconds(-credit / rate) + 1us;
}

Time HopRate::Window::open_at() const {
  return seen_at + std::max<Duration>(kLookAtHop, from_seconds((flight - most) / drain));
}

void HopRate::end_beginning() {
  rate_ = kUnlimited;
  is_beginning_ = is_looking_ = false;
}

}  // namespace spindled
