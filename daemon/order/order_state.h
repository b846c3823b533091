// What the parts of the order layer share.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/order/held_up.h"
#include "daemon/order/incoming_stream.h"
#include "daemon/order/message.h"
#include "daemon/order/order_log.h"
#include "daemon/order/order_observer.h"
#include "daemon/order/own_stream.h"
#include "daemon/order/retention.h"
#include "daemon/overlay/stream_transport.h"

namespace spindled {

/// The installed view, the streams of its members, and its order as far as that is known here. `Order` makes it first,
/// and its parts refer to it.
struct OrderState {
  enum class Phase : std::uint8_t { closed, open, frozen };

  OrderState(Context& node_context, StreamTransport& below, OrderedMessages& layer_above, OrderObserver* observed_by)
      : context(node_context),
        log(context.log_sink, "order"),
        transport(below),
        above(layer_above),
        observer(observed_by),
        held_up(context, above),
        retention(context.slabs) {
    handlers.fill(&above);
  }
  OrderState(const OrderState&) = delete;
  OrderState& operator=(const OrderState&) = delete;

  /// Whether messages of the view are originated, taken and delivered: not from the freeze to the next view.
  bool is_open() const { return phase == Phase::open; }
  /// The next view begins, with streams and an order of its own.
  void open(const View& next);

  /// The first message of the order, which has arrived and is addressed to this daemon, with its place. It is through.
  PendingMessage take_front();
  /// Sends a short frame, which `Write` writes, to other members.
  template <auto Write, typename Frame>
  void send(LinkFrame type, const MemberSet& to, const Frame& frame) const {
    std::array<std::uint8_t, kShortFrameBytesMax> bytes;
    transport.send(type, to, {bytes.data(), Write(bytes.data(), frame)});
  }

  // What is handed up: at once, or, where something holds it up, behind all that waits for the same. An observer is
  // told before, in any case.

  /// A message that has reached its place, to whoever handles its class.
  void deliver(Time now, const Delivery& message);
  /// The same where nothing has to wait, as the caller has just made sure.
  void deliver_at_once(Time now, const Delivery& message) {
    if (observer != nullptr) observer->delivered(message);
    handler_of(message.message_class)->deliver(now, message);
  }
  /// The fifo messages that waited for `pending`.
  void deliver_followers(Time now, const PendingMessage& pending) {
    if (!pending.followers) return;
    for (const Delivery& follower : *pending.followers) deliver(now, follower);
  }
  /// Anything else: a call of the layer above, with what it takes behind the time.
  template <typename... Parameters>
  void tell(Time now, void (OrderedMessages::*call)(Time, Parameters...), const std::decay_t<Parameters>&... what) {
    if (!held_up.must_wait()) return (above.*call)(now, what...);
    held_up.add([this, call, what...](Time later) { (above.*call)(later, what...); });
  }

  MessageHandler*& handler_of(MessageClass message_class) { return handlers[static_cast<std::size_t>(message_class)]; }

  Context& context;
  Log log;
  StreamTransport& transport;
  OrderedMessages& above;
  OrderObserver* observer;                                // nothing: nobody watches
  std::array<MessageHandler*, kMessageClasses> handlers;  // by class; the layer above where nobody else handles it
  HeldUp held_up;

  Phase phase = Phase::closed;
  View view;
  std::uint64_t epoch = 0;               // counts the views installed here
  OwnStream own;                         // what this daemon originates
  std::vector<IncomingStream> incoming;  // per member, this daemon included
  Retention retention;                   // what is kept of these
  OrderLog order;
};

inline PendingMessage OrderState::take_front() {
  const Run& run = order.front();
  const std::uint64_t number = run.first;
  PendingMessage pending = incoming[run.origin].pass_ordered();
  order.advance(1);
  // Destination sets say who waits for what: a difference means that the origin and its report disagree.
  if (pending.delivery.number != number) {
    log.error("message {} of {} stands where {} was ordered", pending.delivery.number,
              view.members[pending.delivery.origin].name, number);
  }
  pending.delivery.position = order.processed();
  pending.delivery.is_placed = true;
  return pending;
}

}  // namespace spindled
