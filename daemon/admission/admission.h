// What enters the network, and when: cost-benefit admission (Amir, Awerbuch, Danilov, Stanton, "A Cost-Benefit Flow
// Control for Reliable Multicast and Unicast in Overlay Networks"; docs/flow-control.md).
//
// A newcomer reads this class first. A message is priced over the links of its tree (PriceBook), which the daemons tell
// each other (OwnPrices); its Flow pays from a budget that a salary fills, or waits.
#pragma once

#include <string>

#include "daemon/admission/benefit.h"
#include "daemon/admission/client_prices.h"
#include "daemon/admission/flow.h"
#include "daemon/admission/membership_rate.h"
#include "daemon/admission/own_prices.h"
#include "daemon/admission/price_book.h"
#include "daemon/base/context.h"
#include "daemon/group/groups.h"
#include "daemon/link/links.h"
#include "daemon/order/order.h"
#include "daemon/overlay/overlay.h"
#include "daemon/overlay/price_frames.h"

namespace spindled {

/// A flow as its client and the administrator see it.
struct FlowSnapshot {
  BenefitKind benefit{};     // what is sought for it
  double price = 0;          // dollars for a packet now; 0 where it pays nothing, not even the fee
  double budget = 0;         // dollars: what it may send, at the price
  double rate = 0;           // packets per second, lately
  Duration salary_period{};  // in which AdmissionConfig::salary is earned
  double blocked_share = 0;  // of its life
  bool is_blocked = false;
  std::uint64_t packets = 0;
  double dollars = 0;  // paid
  /// "room" where its message waits for that; otherwise the dearest part of the price, "link a-b" or "client #c#d of g"
  /// c", and "salary" where it waits though all is free.
  std::string limited_by;
};

/// What a client wants to have enter.
struct Offer {
  std::uint32_t bytes = 0;  // payload
  std::uint32_t part = 0;   // of that, what can enter ahead of the rest; 0: nothing
};

/// Whether it enters. Of two words, so that it costs no more than they do to return.
struct Verdict {
  std::uint32_t bytes = 0;  // of an offer: that enter now, and are paid for
  AdmissionWait waits_for{};
  /// Where it waits: when it is worth trying again. Before that, only when `Admission::news` has changed.
  Time retry_at = kNever;

  bool is_admitted() const { return waits_for == AdmissionWait::none; }
};

/// Decides for each message of a local client whether it enters now. One that does not waits with its sender.
///
/// Two things are decided. Whether there is room: the view is open, and what this daemon retains is within its bounds.
/// And whether the flow can pay. Order of calls: `start_turn`, any number of `try_admit`, and at the end of the turn,
/// once the links have written, `observe`.
class Admission final : public PriceFrames, public ClientPrices {
 public:
  Admission(Context& context, const Links& links, Overlay& overlay, const Order& order, const Groups& groups);

  void start_turn(Time now);

  /// What prices, salaries or room come to may be something else now: who waits tries again.
  void reconsider() { ++news_; }

  /// Whether messages wait for their prices, at first as the configuration says. Prices are told to others in any case.
  bool is_enabled() const { return enabled_; }
  void set_enabled(bool enabled);

  /// A message: what enters of it is paid for. All of it does, or nothing, but where something on its way is congested,
  /// or where much is left of it: there a part enters as soon as that can be paid. Brings `to` up to date with the
  /// group table.
  Verdict try_admit(Time now, Flow& flow, DestinationSet& to, const Offer& offer);
  /// Of a message no more than this enters at once where nothing costs anything: a packet of somebody else would have
  /// to wait behind it.
  static constexpr std::uint32_t kIdlePartBytes = 128u << 10;
  /// Whether it may be a part that enters of a message of so many bytes.
  bool divides(std::uint32_t bytes) const { return enabled_ && (bytes > kIdlePartBytes || !book_.is_idle()); }
  /// A join or a leave. It is a message to all daemons, and all members are told; where it enters it is paid for.
  enum class Change : std::uint8_t { join, leave };
  Verdict try_admit(Time now, MembershipBudget& client, Change change, const std::string& group);
  /// As EnteringMessages::room.
  std::size_t entering_room() const { return entering_room_; }
  /// Changes when messages that were refused before might enter now.
  std::uint64_t news() const { return news_; }
  /// Whether such may enter that were refused for want of room: the end of a turn may make it, and no other follow.
  bool is_room_back() const { return lacked_room_ && has_room(); }

  // ClientPrices
  void set_client_price(const std::string& name, double dollars, std::string_view slowest) override {
    own_.set_clients(turn_at_, name, dollars, slowest);
  }

  /// Looks at the queues. Whether prices were told, which wait to be written.
  bool observe(Time now);
  Time next_deadline() const;

  FlowSnapshot state(Time now, const Flow& flow, const DestinationSet& to) const;
  const PriceBook& prices() const { return book_; }
  const OwnPrices& own() const { return own_; }

  // PriceFrames
  bool price_received(Time now, const Price& price) override;

 private:
  /// How much of what is offered is to enter at once. Brings `to` up to date.
  std::uint32_t share_of(Time now, Flow& flow, DestinationSet& to, const Offer& offer);
  void pay(MembershipBudget& client, Change change, const std::string& group);
  /// What the flow's messages meet on their way, brought up to date.
  Flow::Way& find_way(Flow& flow, const DestinationSet& to) const {
    const bool is_known = flow.way.price_version == book_.version() && flow.way.table_version == to.table_version &&
                          flow.way.config_version == context_.config_version();
    if (!is_known) renew_way(flow.way, to);
    return flow.way;
  }
  void renew_way(Flow::Way& way, const DestinationSet& to) const;
  /// Of a packet that meets this on its way.
  double price_of(BenefitKind benefit, const Quote& quote) const;
  /// Brings the price, the salary and the credit up to date.
  void reckon(Time now, Flow& flow, Flow::Way& way);
  double savings_of(const Flow& flow) const;
  /// Draws when the flow's next message enters.
  void draw_entry(Flow& flow, std::size_t packets);
  bool has_room() const;
  void set_window();
  /// How many times as much a change of membership costs: as many as leave a client that changes without end what a
  /// flow would send that pays for links to all daemons, and for members of the group that do not keep up.
  double dearness(const std::string& group) const;
  void count_held(const Flow& flow);
  std::string limit_of(const Flow& flow, const Quote& quote) const;

  Context& context_;
  Log log_;
  const Order& order_;
  const Groups& groups_;
  const LinkStateFlooding& link_state_;
  PriceBook book_;
  OwnPrices own_;
  MembershipRate membership_rate_;
  Random random_;
  bool enabled_;
  Time turn_at_{};
  bool retention_full_ = false;  // at the start of the turn: costly to know
  std::size_t entering_room_ = 0;
  std::size_t window_ = 0;  // of this daemon's own bytes that are not stable, beyond which nothing enters
  std::uint64_t seen_settings_ = 0;
  bool had_room_ = false;
  bool lacked_room_ = false;  // something was refused in this view, and there has been no room since
  std::uint64_t news_ = 0;
  std::uint64_t seen_falls_ = 0;  // of the book
};

}  // namespace spindled
