#include "daemon/admission/flow.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "daemon/admission/balance.h"

namespace spindled {

namespace {
constexpr double kFirstPackets = 2;     // what a new flow may send: many may begin at once;
constexpr double kFirstDear = 1;        // where packets cost more than the fee
constexpr double kFirstShare = 0.5;     // of the salary of balance
constexpr double kRateSpanS = 1;        // what "lately" means for rates
constexpr Duration kSoonest = 500us;    // no message is looked at again sooner, so that packets enter in batches
constexpr Duration kReviewMax = 100ms;  // what one look makes up for at most on an idle way
constexpr double kSalaryMost = 1e8, kSalaryLeast = 1e-6;  // fees a second
/// What is left of a flow's rate when its way begins to cost something.
constexpr double kOnsetShare = 0.5;
/// Delays in which a salary would be that of balance if it went on as it began.
constexpr double kBalanceDelays = 5;
/// The same for a young flow, which lacks some of it: it has its share soon, and nobody else has moved.
constexpr double kYoungDelays = 1.25;
/// A flow is young until it has had so much of the salary of balance.
constexpr double kGrownShare = 0.9;
/// What is missing beyond e-fold is halved in each delay,
constexpr double kHalving = std::numbers::ln2;
/// upwards from the time on that a price has lasted for so many.
constexpr int kSettledDelays = 20;

double seconds(Duration duration) { return to_seconds(duration); }
Duration duration_of(double s) { return from_seconds(std::min(s, 1e6)); }

double salary_of_balance(const AdmissionConfig& config, double price) {
  return price * rate_of_balance(config.price_threshold, price);
}

/// A salary is near that of balance when it is within this of it.
constexpr double kNear = 0.75;
/// And that of balance when it is no further from it than this part.
constexpr double kSame = 1e-4;

double delay_s(const Flow::Terms& terms) { return std::max(seconds(terms.delay), 1e-3); }

/// How much is missing after `delays`, where `missing` was, of which an e-th goes in `balance_delays`: in logarithms.
double still_missing(double missing, double delays, double balance_delays, bool may_hurry) {
  if (may_hurry && std::abs(missing) > 1) {
    missing = std::copysign(1 + (std::abs(missing) - 1) * std::exp(-kHalving * delays), missing);
  }
  return missing * std::exp(-delays / balance_delays);
}
}  // namespace

double Flow::rate(Time now) const { return recent_ * std::exp(-seconds(now - recent_at_) / kRateSpanS) / kRateSpanS; }

double Flow::blocked_share(Time now) const {
  if (opened_at_ >= now) return 0;
  const Duration life = now - opened_at_;
  const Duration blocked = blocked_ + (is_blocked() ? now - blocked_since_ : Duration::zero());
  return seconds(blocked) / seconds(life);
}

void Flow::accrue(Time now, double savings) {
  if (now > earned_until_) {
    credit_ += earning_ * seconds(now - earned_until_);
    earned_until_ = now;
  }
  credit_ = std::min(credit_, std::max(savings, entry_));
}

void Flow::review(Time now, const AdmissionConfig& config, const Terms& terms) {
  const Duration since = now - std::exchange(reviewed_at_, now);
  const bool refused = std::exchange(refused_, wait_ == Wait::dollars);
  if (salary_ == 0) {
    begin(now, config, terms);
  } else if (!terms.is_idle) {
    seek_balance(since, config, terms);
  } else if (refused) {  // one that is not has no use for more
    salary_ *= std::exp(std::min(1.0, seconds(std::min(since, kReviewMax)) / delay_s(terms)));
  } else {
    return;
  }
  salary_ = std::clamp(salary_, kSalaryLeast * config.fee, kSalaryMost * config.fee);
  earning_ = salary_ / terms.price;
}

void Flow::begin(Time now, const AdmissionConfig& config, const Terms& terms) {
  salary_ = terms.is_idle ? std::max(config.salary, kFirstPackets * terms.price / delay_s(terms))
                          : kFirstShare * salary_of_balance(config, terms.price);
  is_young_ = !terms.is_idle;
  credit_ = terms.is_idle ? kFirstPackets : kFirstDear;
  earned_until_ = now;
}

void Flow::seek_balance(Duration since, const AdmissionConfig& config, const Terms& terms) {
  const double balance = salary_of_balance(config, terms.price);
  is_young_ = is_young_ && salary_ < kGrownShare * balance;
  if (std::abs(salary_ - balance) < kSame * balance) {
    salary_ = balance;
    return;
  }
  const double delays = seconds(since) / delay_s(terms);
  if (!is_young_ && salary_ > kNear * balance && kNear * salary_ < balance) {
    // What is missing falls like its logarithm, which costs more to know.
    salary_ = balance + (salary_ - balance) * std::exp(-delays / kBalanceDelays);
    return;
  }
  const double missing = std::log(balance / salary_);
  const bool may_hurry = missing < 0 || terms.price_age >= kSettledDelays * terms.delay;
  const double balance_delays = is_young_ ? kYoungDelays : kBalanceDelays;
  salary_ = balance * std::exp(-still_missing(missing, delays, balance_delays, may_hurry));
}

void Flow::keep_rate(double price_before, double price) {
  if (price_before > 0) salary_ *= price / price_before;
  earning_ = salary_ / price;
}

void Flow::meet_onset(const AdmissionConfig& config, double price_before, double price) {
  keep_rate(price_before, price);
  salary_ = std::min(kOnsetShare * salary_, salary_of_balance(config, price));
  earning_ = salary_ / price;
}

void Flow::wait_for_dollars(Time now, Duration patience) {
  refused_ = true;
  const Duration wait = duration_of((entry_ - credit_) / std::max(earning_, 1e-9));
  block(now, Wait::dollars, now + std::clamp(wait, kSoonest, std::max(kSoonest, patience)));
}

void Flow::pay(Time now, double price, std::size_t packets) {
  credit_ -= static_cast<double>(packets);
  dollars_ += price * static_cast<double>(packets);
  entry_ = 1;
  has_entry_ = false;
  pass(now, packets);
}

void Flow::pass(Time now, std::size_t packets) {
  unblock(now);
  count(now, packets);
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
