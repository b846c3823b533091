#include "daemon/session/bulk_delivery.h"

#include "libclient/common/framing.h"

namespace spindled {

Session* BulkDelivery::find_open(SessionId id) const {
  Session* session = sessions_.find(id);
  return session != nullptr && session->state() == Session::State::open ? session : nullptr;
}

std::optional<bool> BulkDelivery::wants_channels(SessionId id) const {
  const Session* session = find_open(id);
  return session == nullptr ? std::nullopt : std::optional(session->bulk().is_open());
}

void BulkDelivery::deliver_channel_frames(std::span<const SessionId> to, ByteView frames) {
  for (const SessionId id : to) {
    Session* session = find_open(id);
    if (session == nullptr) continue;
    for (ByteView left = frames; !left.empty();) {
      const std::size_t size = spindle::kFrameHeadBytes + spindle::read_frame_head(left)->length;
      session->queue().append_frame(left.first(size));
      left = left.subspan(size);
    }
    sessions_.mark_dirty(*session);
  }
}

void BulkDelivery::refuse_channel_request(SessionId id, std::uint32_t request, Errc why) {
  Session* session = find_open(id);
  if (session == nullptr) return;
  session->bulk().answer(request, why);
  sessions_.mark_dirty(*session);
}

}  // namespace spindled
