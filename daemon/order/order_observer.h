// Watching the order layer from outside: for tests that hold daemons to what they promise one another.
#pragma once

#include "daemon/order/incoming_stream.h"
#include "daemon/order/message.h"
#include "daemon/overlay/stream_transport.h"

namespace spindled {

/// Told of all that one daemon's order layer does for the layers above it; messages of class `order`, its own business,
/// left out. Calls come in the order in which things happen.
class OrderObserver {
 public:
  virtual ~OrderObserver() = default;

  /// This daemon has given `message` its place in its stream; `destinations` are members of the view.
  virtual void originated(const Delivery& message, const MemberSet& destinations) = 0;
  /// These are told before the layer above hears of them (OrderedMessages).
  virtual void delivered(const Delivery& message) = 0;
  virtual void transitional(const MemberSet& transitional) = 0;
  virtual void view_installed(const View& view, const MemberSet& came_along) = 0;
};

/// Stands between the order layer and both of its neighbours, hands everything on, and tells an observer. Only a Node
/// that is given an observer has one: to all others watching costs nothing.
class ObservedOrder final : public OrderedMessages, public StreamTransport {
 public:
  ObservedOrder(OrderObserver& observer, OrderedMessages& above, StreamTransport& below)
      : observer_(observer), above_(above), below_(below) {}

  // OrderedMessages
  void deliver(Time now, const Delivery& message) override;
  void horizon_advanced(Time now, std::uint64_t position) override;
  void transitional(Time now, const MemberSet& transitional) override;
  void furthest_reached(Time now) override;
  void view_installed(Time now, const View& view, const MemberSet& came_along) override;
  bool is_busy() const override { return above_.is_busy(); }
  bool is_behind() const override { return above_.is_behind(); }

  // StreamTransport
  void handle(LinkFrame type, FrameHandler handler) override;
  void multicast(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void send(LinkFrame type, const MemberSet& to, ByteView content) override;

 private:
  void note_fragment(const MemberSet& to, const Slice& head, const Slice& tail);

  OrderObserver& observer_;
  OrderedMessages& above_;
  StreamTransport& below_;
  IncomingStream own_;  // puts the fragments of an own message together
};

}  // namespace spindled
