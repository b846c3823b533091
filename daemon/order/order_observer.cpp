#include "daemon/order/order_observer.h"

#include "daemon/base/check.h"

namespace spindled {

void ObservedOrder::deliver(Time now, const Delivery& message) {
  observer_.delivered(message);
  above_.deliver(now, message);
}

void ObservedOrder::horizon_advanced(Time now, std::uint64_t position) { above_.horizon_advanced(now, position); }

void ObservedOrder::transitional(Time now, const MemberSet& transitional) {
  observer_.transitional(transitional);
  above_.transitional(now, transitional);
}

void ObservedOrder::furthest_reached(Time now) { above_.furthest_reached(now); }

void ObservedOrder::view_installed(Time now, const View& view, const MemberSet& came_along) {
  observer_.view_installed(view, came_along);
  above_.view_installed(now, view, came_along);
}

void ObservedOrder::note_fragment(const MemberSet& to, const Slice& head, const Slice& tail) {
  const std::optional<Body> body = read_body(head.view());
  SPINDLE_CHECK(body);  // the order layer has just written it
  if (body->head.message_class == MessageClass::order) return;
  Delivery message;
  if (own_.accept(body->head, head.part(body->content_offset), tail, message)) observer_.originated(message, to);
}

void ObservedOrder::multicast(const MemberSet& to, const Slice& head, const Slice& tail) {
  note_fragment(to, head, tail);
  below_.multicast(to, head, tail);
}

void ObservedOrder::multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) {
  note_fragment(to, head, tail);
  below_.multicast_unreliable(to, head, tail);
}

void ObservedOrder::send(LinkFrame type, const MemberSet& to, ByteView content) { below_.send(type, to, content); }

void ObservedOrder::handle(LinkFrame type, FrameHandler handler) { below_.handle(type, std::move(handler)); }

}  // namespace spindled
