// The end of a view: what is delivered of it when recovery has brought what there is.
#pragma once

#include "daemon/order/order_state.h"
#include "daemon/order/transitional_set.h"

namespace spindled {

/// All members of a transitional set end the view alike: each delivers those messages that are addressed to it, and the
/// order and the choice are the same at all. They have the same to decide from: the commit, and the order as far as one
/// of them knew it, since recovery has given all what one has of the sequencer's stream.
///
/// Nobody knows what those outside the set have delivered. This is why the end of a view has parts, each of which
/// promises less than the one before:
///
/// 1. What can be delivered as ever, by the rules of the running view. This stops at the first lost message, and at the
///    first safe one beyond the furthest safe line that any of them knows.
/// 2. The transitional signal, unless all of the old view go on together.
/// 3. The order up to where the furthest member was when it was frozen, less what is lost. That member has delivered
///    this in the running view, so all deliver it. It may have passed over lost messages that were not addressed to it.
///    From its place on it has gone as far as part 1 goes, before its own signal. All follow it there, unless there is
///    a hole by now.
/// 4. The rest of the order, of which nobody has delivered anything, less what is lost and what may depend on a hole.
/// 5. Messages whose place nobody knows, causes first.
///
/// A message is lost when its origin is outside the set, and no member that it is addressed to has it. A hole is the
/// place of a lost message that all members have before them still, beyond the place of the furthest. An origin outside
/// the set may have been past the hole, and may have delivered the lost message: what it has sent may depend on that,
/// and is dropped behind the hole. No member of the set has been past the hole: what members have sent cannot depend on
/// it, and is delivered.
///
/// The place of a lost message that the furthest member has passed over is no hole. That member has delivered what
/// follows, from whatever origin, before anybody knew of a loss. If the others dropped any of that, members that go on
/// together would have delivered different messages (docs/decisions/0006-holes.md).
///
/// One object is for one view, and `close` is called once.
class ViewClosing {
 public:
  /// The streams have what recovery has brought. `transition` leads `set` to the next view. All outlive this one.
  ViewClosing(OrderState& state, const TransitionalSet& set, const Transition& transition)
      : state_(state),
        set_(set),
        transition_(transition),
        is_whole_(set.is_whole(state.view)),
        safe_limit_(is_whole_ ? state.order.end() : transition.safe_line) {}
  ViewClosing(const ViewClosing&) = delete;
  ViewClosing& operator=(const ViewClosing&) = delete;

  void close(Time now);

 private:
  void pass_order(Time now);
  /// Goes through the order by the rules of the running view, as far as nothing holds it up.
  void pass_what_nothing_holds_up(Time now);
  /// The first run behind the signal: passes what can be delivered of it, or all of it where nothing can.
  void pass_behind_signal(Time now);
  /// Passes the first `count` messages of the first run, which have arrived where they are addressed to this daemon.
  void pass_run(Time now, std::uint64_t count, bool delivered);
  /// What the sequencer has not ordered, or not as far as is known here.
  void pass_unordered(Time now);

  bool is_before_furthest() const { return state_.order.processed() < transition_.processed; }
  /// Whether a message that is not lost can be delivered at the present place.
  bool may_deliver(MemberIndex origin) const;
  void deliver(Time now, const PendingMessage& pending);
  void drop(Time now, const PendingMessage& pending);

  OrderState& state_;
  const TransitionalSet& set_;
  const Transition& transition_;
  const bool is_whole_;  // all of the old view go on together
  /// Safe messages up to here are safe. Where all go on together everybody has everything, and all of it counts as
  /// delivered in the old view.
  const std::uint64_t safe_limit_;
  bool has_hole_ = false;  // before the present place
};

}  // namespace spindled
