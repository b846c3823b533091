// What one client sends to one set of destinations: a budget, and the salary that fills it.
#pragma once

#include <cstdint>

#include "daemon/base/node_config.h"

namespace spindled {

/// The paper pays a salary every T (section IV-B.4); here it accrues continuously, `salary` in T, which is the same in
/// the long run and leaves out the wait for payday. Once in each T it is looked at whether T fits (section IV-B.6):
/// a flow that was refused a packet in that time, and none of whose packets cost as much as the threshold, gets a
/// shorter T by equation (10), and one whose packets cost more a longer one by equation (11). A flow that was not
/// refused keeps its T. On an idle network that is looked at as often as news of congestion could have come back, so
/// that a salary doubles in that time, and a new flow need not wait for its first payday.
///
/// Nothing runs by itself: what time has brought is reckoned when the flow is used. A flow that is never used costs
/// its size.
class Flow {
 public:
  /// Dollars at `now`; negative after a message of several packets, which enters as soon as the first can be paid.
  double budget() const { return budget_; }
  Duration period() const { return Duration(static_cast<Duration::rep>(period_s_ * 1e9)); }
  /// Packets per second, smoothed over about a second.
  double rate(Time now) const;
  /// When to look again at a message that was refused, if there are no news before; kNever: only then.
  Time retry_at() const { return retry_at_; }
  std::uint64_t packets() const { return packets_; }
  double dollars() const { return dollars_; }
  bool is_blocked() const { return blocked_since_ != kNever; }
  /// How much of its life up to `now` the flow has had a message that was refused.
  double blocked_share(Time now) const;

  // For Admission.

  /// Brings the budget up to `now`. `savings` caps it. A flow that is new gets its first salary.
  void accrue(Time now, const AdmissionConfig& config, double savings);
  /// Looks, if it is payday, whether the salary fits. `step` is T_update of equation (10); `idle`: nothing on the
  /// flow's way costs anything.
  void review(Time now, const AdmissionConfig& config, Duration step, bool idle);
  /// Whether the budget allows for a packet of `price`; if not the flow is blocked.
  bool try_pay(Time now, double price, std::size_t packets, const AdmissionConfig& config);
  /// The message enters without paying.
  void pass(Time now, std::size_t packets);
  /// The message waits, not for want of dollars; nothing is held against the flow.
  void wait_until(Time retry_at);
  /// The message waits for room, which is no fault of the flow.
  void wait_for_room(Time now);

  // For Admission, which knows what they mean.

  std::uint64_t drawn_for = 0;      // the state of the prices that lots were last drawn for
  std::uint64_t round_trip_of = 0;  // the version of the group table that the next is for
  Duration round_trip{};            // the longest to any destination

 private:
  void unblock(Time now);
  void count(Time now, std::size_t packets);

  double budget_ = 0;
  double period_s_ = 0;  // 0: the flow is new
  double dearest_ = 0;   // since the last payday: bought or refused
  bool refused_ = false;
  Time opened_at_{};
  Time paid_until_{};
  Time payday_ = kNever;
  Time reviewed_at_{};
  Time slowed_at_{};  // when T was last made longer
  Time retry_at_ = kNever;
  Time blocked_since_ = kNever;
  Duration blocked_{};
  std::uint64_t packets_ = 0;
  double dollars_ = 0;
  double recent_ = 0;  // packets, each counting less with age
  Time recent_at_{};
};

}  // namespace spindled
