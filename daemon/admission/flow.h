// What one client sends to one set of destinations: a salary, and what it pays for.
#pragma once

#include <cstdint>

#include "daemon/base/node_config.h"

namespace spindled {

/// Why what a client wants to send may not enter yet.
enum class AdmissionWait : std::uint8_t {
  none,      // it may
  dollars,   // it is not earned yet
  room,      // which is no fault of who sends it
  clients,   // the queue of a client, where nobody pays for it
  requests,  // joins and leaves that its client has asked for before are not done
  quota,     // the rate at which the clients of its identity may send
  changes,   // so many joins and leaves the client, or all clients, may not ask for
};

/// A flow earns a salary, in dollars a second, and pays what a packet costs. It spends what it earns at once on the
/// right to send: what it saves are packets, not dollars, and a change of the price is a change of the rate at which it
/// earns them from then on. With dollars saved a price would move all who have saved at the same moment, by as many
/// packets as there are flows; with packets it moves nobody but by its rate.
///
/// The paper finds the salary by trying (section IV-B.6): it grows while packets are cheap and shrinks while they are
/// dear. So it does here, towards the salary of balance, which falls with the square of the price: with the rate that
/// it buys, salary / price, the flow seeks the most of a utility of its own, and all that pay one price send the same.
///
/// - On a way that costs nothing it grows e-fold in a round trip, the time in which news of congestion could come back.
/// - Where it costs something the salary goes a fifth of the way to that of balance in the delay that the price comes
///   with. Where more than e-fold is missing it goes half of that besides: downwards at once, upwards only at a price
///   that has lasted for a while. A new flow, which begins with half of that of balance, goes four times as fast
///   upwards until it has had nine tenths of it.
/// - Where a part of the price begins or ceases the flow's rate stays; where nothing did cost it is halved, and becomes
///   that of balance if that is less: how fast an idle way is, the flow has only guessed.
///
/// Nothing runs by itself: what time has brought is reckoned when the flow is used. A flow that is never used costs
/// its size.
class Flow {
 public:
  /// Packets that it may send; negative after a message of several, which enters when about one has been earned.
  double credit() const { return credit_; }
  /// Dollars a second; 0: the flow is new.
  double salary() const { return salary_; }
  /// Packets per second, smoothed over about a second.
  double rate(Time now) const;
  /// When to look again at a message that was refused, if there are no news before; kNever: only then.
  Time retry_at() const { return retry_at_; }
  std::uint64_t packets() const { return packets_; }
  double dollars() const { return dollars_; }
  /// What the message in front, which was refused, waits for.
  using Wait = AdmissionWait;
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

  /// What `review` goes by.
  struct Terms {
    double price = 0;      // dollars, of a packet
    bool is_idle = true;   // it is the fee alone
    Duration delay{};      // in which who pays answers; of an idle way the round trip
    Duration price_age{};  // since the price has had these parts
  };

  /// Brings the credit up to `now`, by the rate of the last review, and no further than `savings`.
  void accrue(Time now, double savings);
  /// Looks whether the salary fits. The first time it sets the salary.
  void review(Time now, const AdmissionConfig& config, const Terms& terms);
  /// The price has other parts than before: the salary changes with it, so that the flow's rate stays.
  void keep_rate(double price_before, double price);
  /// The way has cost nothing so far.
  void meet_onset(const AdmissionConfig& config, double price_before, double price);
  /// Packets a second that it earns.
  double earning() const { return earning_; }
  /// The credit at which the message in front enters: one packet, or as many more or less as were drawn for it.
  double entry() const { return entry_; }
  void set_entry(double packets) {
    entry_ = packets;
    has_entry_ = true;
  }
  bool has_entry() const { return has_entry_; }
  /// Whether the credit suffices for the message in front.
  bool can_pay() const { return credit_ >= entry_; }
  /// It enters, and its packets are paid for at that price each.
  void pay(Time now, double price, std::size_t packets);
  /// It waits until it is earned, and is looked at again after `patience` at the latest, since the salary changes.
  void wait_for_dollars(Time now, Duration patience);
  /// The message enters without paying.
  void pass(Time now, std::size_t packets);
  /// The message waits for room, until there are news.
  void wait_for_room(Time now) { block(now, Wait::room, kNever); }
  /// It waits for clients to read, and is looked at again then.
  void wait_for_clients(Time now, Time retry_at) { block(now, Wait::clients, retry_at); }

  // For Admission, which knows what they mean.

  /// What its messages meet on their way, as reckoned last.
  struct Way {
    std::uint64_t price_version = 0;  // of the prices that it is by
    std::uint64_t table_version = 0;  // of the group table
    std::uint64_t config_version = 0;
    double congestion = 0;    // as Quote
    double clients = 0;       // dollars, of the clients that cost most
    double asked = 0;         // dollars, of a packet
    std::uint64_t parts = 0;  // as Quote
    Duration delay{};         // in which who pays answers; where nothing costs anything, a round trip
    Duration round_trip{};    // the longest to any destination
    BenefitKind benefit{};    // what is sought for it
    // What follows from these for a packet of this flow, reckoned once in a turn.
    Time reckoned_at = kNever;  // kNever: not since any of the above changed
    double price = 0;           // dollars
    double savings = 0;         // packets that a flow can have saved at that price; 0: to be reckoned
    std::uint64_t priced_parts = 0;
    Time parts_since{};  // of the price
  } way;

 private:
  void begin(Time now, const AdmissionConfig& config, const Terms& terms);
  void seek_balance(Duration since, const AdmissionConfig& config, const Terms& terms);
  void open(Time now);
  void block(Time now, Wait wait, Time retry_at);
  void unblock(Time now);
  void count(Time now, std::size_t packets);

  double credit_ = 0;
  double salary_ = 0;
  double earning_ = 0;
  double entry_ = 1;
  bool has_entry_ = false;
  bool is_young_ = false;  // it has begun where packets cost more than the fee, and has never had its share
  bool refused_ = false;   // for its price, since the last review
  Wait wait_ = Wait::none;
  std::uint8_t waited_for_ = 0;  // a bit for each Wait of the message in front
  Time opened_at_ = kNever;      // kNever: it has had no message
  Time earned_until_{};
  Time reviewed_at_{};
  Time retry_at_ = kNever;
  Time blocked_since_{};
  Duration blocked_{};
  std::uint64_t packets_ = 0;
  double dollars_ = 0;
  double recent_ = 0;  // packets, each counting less with age
  Time recent_at_{};
};

}  // namespace spindled
