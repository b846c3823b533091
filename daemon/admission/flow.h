// What one client sends to one set of destinations: a budget, and the salary that fills it.
#pragma once

#include <cstdint>

#include "daemon/base/node_config.h"

namespace spindled {

/// The paper pays a salary every T (section IV-B.4) and on each payday of a flow that was refused a packet changes T,
/// by equation (10) where its packets were cheap and by (11) where they were dear (section IV-B.6). Here the salary
/// accrues continuously, and T changes continuously, by the same laws taken over time: while the flow is refused, the
/// rate 1/T
///
/// - grows in proportion to itself as long as a packet costs less than the threshold H, the more so the less it costs,
///   as adding to 1/T on each payday does. On an idle network it grows as fast as news of congestion could come back;
/// - shrinks in proportion to itself and to what a packet costs beyond H, as doubling T on each payday does;
/// - grows by a constant besides, which makes flows of one price equal in time.
///
/// A flow that is not refused keeps its T.
///
/// Nothing runs by itself: what time has brought is reckoned when the flow is used. A flow that is never used costs
/// its size.
class Flow {
 public:
  /// Dollars at `now`; negative after a message of several packets, which enters as soon as the first can be paid.
  double budget() const { return budget_; }
  Duration period() const { return from_seconds(period_s_); }
  /// Packets per second, smoothed over about a second.
  double rate(Time now) const;
  /// When to look again at a message that was refused, if there are no news before; kNever: only then.
  Time retry_at() const { return retry_at_; }
  std::uint64_t packets() const { return packets_; }
  double dollars() const { return dollars_; }
  /// What the message in front, which was refused, waits for.
  enum class Wait : std::uint8_t {
    none,     // nothing is refused
    dollars,  // the budget does not cover it
    lot,      // it was put off, though it could be paid
    room,     // which is no fault of the flow
    clients,  // the queue of a client, where nobody pays for it
  };
  Wait waits_for() const { return wait_; }
  bool is_blocked() const { return wait_ != Wait::none; }
  /// Whether that message has waited for this at any time.
  bool has_waited_for(Wait wait) const { return (waited_for_ & 1u << static_cast<unsigned>(wait)) != 0; }
  /// How much of its life up to `now`, which begins with its first message, the flow has had a message that was
  /// refused.
  double blocked_share(Time now) const;

  /// The flow goes to other destinations from now on.
  void redirect() { way = {}; }

  // For Admission.

  /// Brings the budget up to `now`. `savings` caps it. A flow that is new gets enough for a first message.
  void accrue(Time now, const AdmissionConfig& config, double savings);
  /// Looks whether the salary fits, where packets cost `price` as all senders know it. `step`: T_update of equation
  /// (10), the time that growth by a factor of e takes on an idle network.
  void review(Time now, const AdmissionConfig& config, double price, Duration step);
  /// Whether the budget allows for a packet of `price`, which is then paid for; if not the flow is blocked, and looked
  /// at again after `patience` at the latest, since its salary changes meanwhile.
  bool try_pay(Time now, double price, std::size_t packets, const AdmissionConfig& config, Duration patience);
  /// The message enters without paying.
  void pass(Time now, std::size_t packets);
  /// Whether lots were drawn since the flow could not pay.
  bool has_drawn() const { return has_drawn_; }
  /// What they said: messages wait for that part, from 0 to 1, of the longest wait although they could be paid.
  void draw(Time now, double lot) {
    has_drawn_ = true;
    lot_ = lot;
    drawn_at_ = now;
    put_off_until_ = kNever;
  }
  /// Whether lots were drawn and nothing is to be waited for any more.
  bool is_lot_over(Time now) const { return has_drawn_ && now >= put_off_until_; }
  /// Whether that is still to come; if so the message waits. `longest` follows the price: where it is less by now the
  /// wait ends sooner, but it never ends later than was said.
  bool is_put_off(Time now, Duration longest);
  /// The message waits for room, until there are news.
  void wait_for_room(Time now) { block(now, Wait::room, kNever); }
  /// It waits for clients to read, and is looked at again then.
  void wait_for_clients(Time now, Time retry_at) { block(now, Wait::clients, retry_at); }

  // For Admission, which knows what they mean.

  /// What its messages meet on their way, as reckoned last.
  struct Way {
    std::uint64_t price_version = 0;  // of the prices that it is by
    std::uint64_t table_version = 0;  // of the group table
    double congestion = 0;            // as Quote
    double told = 0;                  // as Quote
    double clients = 0;               // dollars, of the clients that cost most
    double receivers = 0;
    bool remote = false;
    Duration round_trip{};  // the longest to any destination
    // What follows from these for a packet of this flow, reckoned once in a turn.
    Time reckoned_at = kNever;  // kNever: not since any of the above changed
    double price = 0;           // dollars
  } way;

 private:
  void open(Time now);
  void block(Time now, Wait wait, Time retry_at);
  void unblock(Time now);
  void count(Time now, std::size_t packets);

  double budget_ = 0;
  double period_s_ = 0;  // 0: the flow is new
  bool has_drawn_ = false;
  bool refused_ = false;  // for its price, since the last review
  Wait wait_ = Wait::none;
  std::uint8_t waited_for_ = 0;  // a bit for each Wait of the message in front
  Time opened_at_ = kNever;      // kNever: it has had no message
  Time paid_until_{};
  Time reviewed_at_{};
  double lot_ = 0;
  Time drawn_at_{};
  Time put_off_until_{};
  Time retry_at_ = kNever;
  Time blocked_since_{};
  Duration blocked_{};
  std::uint64_t packets_ = 0;
  double dollars_ = 0;
  double recent_ = 0;  // packets, each counting less with age
  Time recent_at_{};
};

}  // namespace spindled
