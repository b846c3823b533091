// Watching what the order layer sends: for tests that hold daemons to what they promise one another.
#pragma once

#include "daemon/order/incoming_stream.h"
#include "daemon/order/order_observer.h"
#include "daemon/overlay/stream_transport.h"

namespace spindled {

/// Stands between the order layer and the overlay, hands everything on, and tells an observer which messages are
/// originated. Only a Node that is given an observer has one.
class ObservedStreams final : public StreamTransport {
 public:
  ObservedStreams(OrderObserver& observer, StreamTransport& below) : observer_(observer), below_(below) {}

  // StreamTransport
  void handle(LinkFrame type, FrameHandler handler) override;
  void multicast(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) override;
  void send(LinkFrame type, const MemberSet& to, ByteView content) override;

 private:
  void note_fragment(const MemberSet& to, const Slice& head, const Slice& tail);

  OrderObserver& observer_;
  StreamTransport& below_;
  IncomingStream own_;  // puts the fragments of an own message together
};

}  // namespace spindled
