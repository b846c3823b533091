#include "daemon/admission/flow.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace spindled {

namespace {
constexpr double kFirstFees = 2;        // what a new flow has: many may begin at once
constexpr double kRateSpanS = 1;        // what "lately" means for rates
constexpr Duration kSoonest = 500us;    // no message is looked at again sooner, so that packets enter in batches
constexpr double kPeriodMinS = 1e-7;    // no salary is higher than one in this time
constexpr Duration kReviewMin = 5ms;    // the least time between two looks at it, where feedback takes that long
constexpr Duration kReviewMax = 100ms;  // what one look makes up for at most
/// How much a salary grows at most between two looks at it: one in each step is enough for all that the step allows.
constexpr double kGrowthMax = std::numbers::e;

double seconds(Duration duration) { return to_seconds(duration); }
Duration duration_of(double s) { return from_seconds(std::min(s, 1e6)); }
}  // namespace

double Flow::rate(Time now) const { return recent_ * std::exp(-seconds(now - recent_at_) / kRateSpanS) / kRateSpanS; }

double Flow::blocked_share(Time now) const {
  if (opened_at_ >= now) return 0;
  const Duration life = now - opened_at_;
  const Duration blocked = blocked_ + (is_blocked() ? now - blocked_since_ : Duration::zero());
  return seconds(blocked) / seconds(life);
}

void Flow::accrue(Time now, const AdmissionConfig& config, double savings) {
  if (period_s_ == 0) {
    period_s_ = seconds(config.period_first);
    reviewed_at_ = now;
    budget_ = std::min(config.salary, kFirstFees * config.fee);
  } else {
    budget_ = std::min(savings, budget_ + config.salary * seconds(now - paid_until_) / period_s_);
  }
  paid_until_ = now;
}

void Flow::review(Time now, const AdmissionConfig& config, double price, Duration step) {
  const Duration since = std::min(now - reviewed_at_, kReviewMax);
  if (since < std::min(kReviewMin, step)) return;
  const double excess = price - config.price_threshold;
  // A rich flow that only the window holds up would keep both its salary and what makes packets so dear.
  const bool refused = wait_ == Wait::dollars || wait_ == Wait::lot || (wait_ == Wait::room && excess > 0);
  if (std::exchange(refused_, refused)) {
    double rate = 1 / period_s_;
    if (excess < 0) {
      const double share = -excess / (config.price_threshold - config.fee);
      rate *= std::min(kGrowthMax, std::exp(share * seconds(since) / seconds(step)));
    } else {
      rate *= std::exp(-config.salary_decrease * excess * seconds(since));
    }
    rate += config.salary_increase * seconds(since);
    period_s_ = std::clamp(1 / rate, kPeriodMinS, seconds(config.period_max));
  }
  reviewed_at_ = now;
}

bool Flow::try_pay(Time now, double price, std::size_t packets, const AdmissionConfig& config, Duration patience) {
  if (budget_ < price) {
    refused_ = true;
    has_drawn_ = false;
    block(now, Wait::dollars,
          now + std::clamp(duration_of((price - budget_) * period_s_ / config.salary), kSoonest,
                           std::max(kSoonest, patience)));
    return false;
  }
  const double cost = price * static_cast<double>(packets);
  budget_ -= cost;
  dollars_ += cost;
  pass(now, packets);
  return true;
}

void Flow::pass(Time now, std::size_t packets) {
  unblock(now);
  count(now, packets);
}

bool Flow::is_put_off(Time now, Duration longest) {
  put_off_until_ = std::min(put_off_until_, drawn_at_ + duration_of(lot_ * seconds(longest)));
  if (now >= put_off_until_) return false;
  refused_ = true;
  block(now, Wait::lot, put_off_until_);
  return true;
}

void Flow::open(Time now) {
  if (opened_at_ == kNever) opened_at_ = recent_at_ = now;
}

void Flow::block(Time now, Wait wait, Time retry_at) {
  open(now);
  if (!is_blocked()) blocked_since_ = now;
  wait_ = wait;
  waited_for_ |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(wait));
  retry_at_ = retry_at;
}

void Flow::unblock(Time now) {
  open(now);
  if (!is_blocked()) return;
  blocked_ += now - blocked_since_;
  wait_ = Wait::none;
  waited_for_ = 0;
  retry_at_ = kNever;
}

void Flow::count(Time now, std::size_t packets) {
  packets_ += packets;
  if (now != recent_at_) {
    recent_ *= std::exp(-seconds(now - recent_at_) / kRateSpanS);
    recent_at_ = now;
  }
  recent_ += static_cast<double>(packets);
}

}  // namespace spindled
