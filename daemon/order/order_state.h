// What the parts of the order layer share.
#pragma once

#include <array>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/order/incoming_stream.h"
#include "daemon/order/message.h"
#include "daemon/order/order_log.h"
#include "daemon/order/own_stream.h"
#include "daemon/overlay/stream_transport.h"

namespace spindled {

/// The installed view, the streams of its members, and its order as far as that is known here. `Order` makes it first,
/// and its parts refer to it.
struct OrderState {
  enum class Phase : std::uint8_t { closed, open, frozen };

  OrderState(Context& node_context, StreamTransport& below, OrderedMessages& layer_above)
      : context(node_context), log(context.log_sink, "order"), transport(below), above(layer_above) {}
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

  /// The fifo messages that waited for `pending`.
  void deliver_followers(Time now, const PendingMessage& pending) const {
    if (!pending.followers) return;
    for (const Delivery& follower : *pending.followers) above.deliver(now, follower);
  }

  Context& context;
  Log log;
  StreamTransport& transport;
  OrderedMessages& above;

  Phase phase = Phase::closed;
  View view;
  std::uint64_t epoch = 0;               // counts the views installed here
  OwnStream own;                         // what this daemon originates
  std::vector<IncomingStream> incoming;  // per member, this daemon included
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
  return pending;
}

}  // namespace spindled
