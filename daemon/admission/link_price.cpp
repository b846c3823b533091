#include "daemon/admission/link_price.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/admission/balance.h"

namespace spindled {

namespace {
/// The rate of a link whose price is told every T_min: 2 Mb/s in packets of 1,400 bytes.
constexpr double kUsualRate = 178;
constexpr double kRateLeast = 0.1;
constexpr Duration kIntervalMin = 500us, kIntervalMax = 1s;
/// A price is set so often in a round trip at most.
constexpr int kIntervalsPerRoundTrip = 4;
/// How much of the excess, and of the queue beyond what is aimed at, the price answers within a delay.
constexpr double kExcessGain = 0.4;
constexpr double kWaitGain = 0.08;
/// The queue that is aimed at has at least so many frames: they may be long.
constexpr double kAimFrames = 5;
/// A queue is long at so many times what is aimed at.
constexpr double kLongQueue = 2.5;
/// An excess is beyond doubt that is more than this, and than so many standard deviations.
constexpr double kSureExcess = 0.2, kSureDeviations = 2;
/// How long a queue stands before it costs something; where the link's rate is not known it is LinkRate::kStands.
constexpr Duration kStands = 5ms;
/// While nothing waits and the link costs nothing, what it carries is counted so often only: turns are many then.
constexpr Duration kIdleLook = 50ms;
/// A link that carries more than is known, though no queue has stood for a delay, is not used by so much.
constexpr double kUnusedShare = 0.1;
/// How a price ends: so many delays without a queue that stands, while the link carries less than that of its rate.
constexpr int kQuietDelays = 20;
constexpr double kQuietShare = 0.8;
/// The least that a link costs, as a part of what it costs at first.
constexpr double kLeastShare = 0.5;
/// The most: a million flows would share it in balance.
constexpr double kMostTimes = 100;
/// How much of a wait beyond what is aimed at counts, in delays: what has piled up has to leave, but not at once.
constexpr double kWaitMost = 2;
/// A link takes so many times what it took when its price began: it was not full then, TCP's window was opening.
constexpr double kOpened = 1.8;
/// The least that a link costs at first, as a part of what a packet costs in all then.
constexpr double kFirstLeastShare = 0.2;
/// A price that has to rise by so much at once does so after this part of an interval, and time.
constexpr double kPromptRise = 0.1;
constexpr int kPromptShare = 4;
constexpr Duration kPromptMin = 1ms;
/// What one interval counts at most.
constexpr double kStepMax = 1;
}  // namespace

void LinkPrice::start(Time now, Duration round_trip, Duration own_round_trip, const Queue& queue) {
  round_trip_ = round_trip;
  own_round_trip_ = own_round_trip;
  rate_.start(now, own_round_trip, queue.departed, queue.squares);
  departed_ = queue.departed;
  packets_ = 0;
  seen_at_ = set_at_ = stood_at_ = quiet_since_ = now;
  stands_since_ = kNever;
  waited_ = arrived_ = quiet_arrived_ = 0;
  past_ = {};
}

Duration LinkPrice::interval() const {
  const double share = rate() / rate_.packets_per_frame() / kUsualRate;
  const double factor = share < 1 ? 1 / share : 1 / std::sqrt(share);
  const Duration by_rate = from_seconds(to_seconds(config_->update_min) * factor);
  const Duration most = std::max(kIntervalMax, config_->update_min);
  return std::max(std::clamp(by_rate, kIntervalMin, most), round_trip_ / kIntervalsPerRoundTrip);
}

double LinkPrice::rate() const { return std::max(rate_.packets_per_s(), kRateLeast); }

double LinkPrice::aim_packets() const {
  return std::max({to_seconds(config_->queue_time) * rate(), static_cast<double>(config_->queue_packets),
                   kAimFrames * rate_.packets_per_frame()});
}

double LinkPrice::dollars() const { return costs_ ? std::exp(log_) : 0; }

double LinkPrice::first_price() const {
  const double whole = price_of_balance(config_->price_threshold, rate());
  return std::max(whole - config_->fee, kFirstLeastShare * whole);
}

bool LinkPrice::observe(Time now, const Queue& queue) {
  if (!costs_ && packets_ == 0 && queue.packets == 0 && now - seen_at_ < kIdleLook) return false;
  note_queue(now, queue);
  if (!costs_) {
    if (now < next_deadline()) return false;
    begin(now);
    return true;
  }
  if (now >= next_deadline()) {
    set(now, prompt_rise(now));
    return true;
  }
  if (!is_long() || now - set_at_ < std::max(interval() / kPromptShare, kPromptMin)) return false;
  const std::optional<double> prompt = prompt_rise(now);
  if (!prompt || *prompt < kPromptRise) return false;
  set(now, prompt);
  return true;
}

void LinkPrice::note_queue(Time now, const Queue& queue) {
  const auto left = static_cast<double>(queue.departed - std::exchange(departed_, queue.departed));
  // What was dropped has not come.
  const double arrived = std::max(0.0, left + static_cast<double>(queue.packets) - static_cast<double>(packets_));
  waited_ += static_cast<double>(packets_) * to_seconds(now - std::exchange(seen_at_, now));
  arrived_ += arrived;
  quiet_arrived_ += arrived;
  rate_.observe(now, queue.packets, queue.departed, queue.squares);
  packets_ = queue.packets;
  if (packets_ == 0) {
    stands_since_ = kNever;
  } else if (stands_since_ == kNever) {
    stands_since_ = now;
  }
  if (packets_ == 0 || now - stands_since_ < kStands) return;
  stood_at_ = quiet_since_ = now;
  quiet_arrived_ = 0;
}

Time LinkPrice::next_deadline() const {
  if (costs_) return set_at_ + interval();
  if (stands_since_ == kNever) return kNever;
  if (rate_.is_timed()) return stands_since_ + kStands;
  // What leaves within a round trip of the link says little: its window opens and closes.
  return stands_since_ + std::max(is_long() ? kStands : LinkRate::kStands, own_round_trip_);
}

bool LinkPrice::is_long() const { return static_cast<double>(packets_) > kLongQueue * aim_packets(); }

void LinkPrice::begin(Time now) {
  costs_ = true;
  begun_at_ = now;
  begun_rate_ = rate();
  log_ = std::log(first_price() * (is_long() ? 1 : kLeastShare));
  past_ = {};
  waited_ = arrived_ = 0;
  set_at_ = now;
}

double LinkPrice::excess_of(Time now, double excess) const {
  if (excess <= 0 || packets_ > 0) return excess;
  return now - stood_at_ >= delay() ? -kUnusedShare : 0;
}

double LinkPrice::steady_rise(double excess, double wait_s) const {
  const double delay_s = to_seconds(delay());
  const double aim_s = aim_packets() / rate();
  return kExcessGain * excess + kWaitGain * std::min(kWaitMost, (wait_s - aim_s) / delay_s);
}

std::optional<double> LinkPrice::prompt_rise(Time now) const {
  if (!is_long()) return std::nullopt;
  const double delay_s = to_seconds(delay());
  double seconds = to_seconds(now - set_at_), arrived = arrived_, risen = 0;
  for (std::size_t i = 1; i <= past_.size() && seconds < delay_s; ++i) {
    const Interval& each = past_[(past_next_ + past_.size() - i) % past_.size()];
    if (each.seconds == 0) break;
    seconds += each.seconds;
    arrived += each.arrived;
    risen += each.rise;
  }
  const double taken = rate() * seconds;
  if (taken <= 0) return std::nullopt;
  const double excess = arrived / taken - 1;
  const double deviation = std::sqrt(rate_.packets_per_frame() / taken);
  if (excess < kSureExcess + kSureDeviations * deviation) return std::nullopt;
  return std::log1p(excess) - risen;
}

bool LinkPrice::is_over(Time now) {
  const Duration quiet = now - quiet_since_;
  const bool is_young = now - begun_at_ < kQuietDelays * delay();
  if (is_young && quiet >= delay() && rate() > kOpened * begun_rate_) return true;
  if (quiet < kQuietDelays * delay()) return false;
  const double carried = quiet_arrived_ / to_seconds(quiet);
  quiet_since_ = now;
  quiet_arrived_ = 0;
  // What a link has only carried says nothing of what it could.
  return !rate_.is_timed() || carried < kQuietShare * rate();
}

void LinkPrice::set(Time now, std::optional<double> prompt) {
  if (is_over(now)) {
    costs_ = false;
    return;
  }
  const double seconds = to_seconds(now - std::exchange(set_at_, now));
  const double rate = this->rate();
  Interval& interval = past_[past_next_];
  past_next_ = (past_next_ + 1) % past_.size();
  interval = {seconds, std::exchange(arrived_, 0), 0};
  const double share = std::min(kStepMax, seconds / to_seconds(delay()));
  const double wait_s = std::exchange(waited_, 0) / seconds / rate;
  const double steady = share * steady_rise(excess_of(now, interval.arrived / (rate * seconds) - 1), wait_s);
  interval.rise = prompt ? std::max(0.0, *prompt) : steady;
  const double before = log_;
  const double first = std::log(first_price());
  log_ = std::clamp(log_ + interval.rise, first + std::log(kLeastShare), first + std::log(kMostTimes));
  interval.rise = log_ - before;
}

}  // namespace spindled
