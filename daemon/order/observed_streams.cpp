#include "daemon/order/observed_streams.h"

#include "daemon/base/check.h"

namespace spindled {

void ObservedStreams::note_fragment(const MemberSet& to, const Slice& head, const Slice& tail) {
  const std::optional<Body> body = read_body(head.view());
  SPINDLE_CHECK(body);  // the order layer has just written it
  if (body->head.message_class == MessageClass::order) return;
  Delivery message;
  if (own_.accept(body->head, head.part(body->content_offset), tail, message)) observer_.originated(message, to);
}

void ObservedStreams::multicast(const MemberSet& to, const Slice& head, const Slice& tail) {
  note_fragment(to, head, tail);
  below_.multicast(to, head, tail);
}

void ObservedStreams::multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) {
  note_fragment(to, head, tail);
  below_.multicast_unreliable(to, head, tail);
}

void ObservedStreams::send(LinkFrame type, const MemberSet& to, ByteView content) { below_.send(type, to, content); }

void ObservedStreams::handle(LinkFrame type, FrameHandler handler) { below_.handle(type, std::move(handler)); }

}  // namespace spindled
