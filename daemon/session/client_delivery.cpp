#include "daemon/session/client_delivery.h"

#include <algorithm>
#include <array>

namespace spindled {

namespace protocol = spindle::protocol;

namespace {
/// What waits for clients that do not read is copied where all copies come to no more than this: each would otherwise
/// keep the whole slab in memory in which it came, for as long as it waits.
constexpr std::size_t kCopiesBytesMax = SlabPool::kLargeBytes / 4;

protocol::PackedHead head_of(const ClientMessage& message) {
  const protocol::Place place{message.at.position, 0};
  return {static_cast<std::uint8_t>(message.service),
          message.type,
          message.total,
          message.names,
          first_view(message.chunks).size(),
          place,
          protocol::place_size(place),
          message.has_headers};
}

/// What the heads of all messages of a bundle have in common.
protocol::PackedHead head_of(const ClientBundle& bundle) {
  protocol::PackedHead head;
  head.service = static_cast<std::uint8_t>(bundle.service);
  head.names = bundle.names;
  head.place.order = bundle.at.position;
  head.has_headers = bundle.has_headers;
  return head;
}
}  // namespace

Session* ClientDelivery::find_open(SessionId id) const {
  Session* session = sessions_.find(id);
  return session != nullptr && session->state() == Session::State::open ? session : nullptr;
}

void ClientDelivery::requests_done(Time now, SessionId id) {
  Session* session = sessions_.find(id);
  // What it asked for enters at the start of a turn, as everything does.
  if (session != nullptr && session->note_requests_done()) sessions_.retry_waiting_at(now);
}

void ClientDelivery::deliver_message(std::span<const SessionId> to, const ClientMessage& message) {
  if (message.chunks.size() <= 1 && message.total + message.names.size() <= OutputQueue::kCopyBytesMax) {
    const BundledMessage alone{message.type, first_view(message.chunks)};
    deliver_bundle(
        to, {message.service, message.groups, message.names, std::span(&alone, 1), message.at, message.has_headers});
  } else {
    deliver_large(to, message);
  }
}

void ClientDelivery::deliver_bundle(std::span<const SessionId> to, const ClientBundle& bundle) {
  frame_sizes_.clear();
  std::size_t bytes = 0, payload_bytes = 0;
  note_order(bundle.at);
  const std::size_t order_bytes = bundle.at.position == 0 ? 0 : spindle::varint_size(bundle.at.position);
  // Of a frame without payload, but for the length of that and the place.
  const std::size_t rest = protocol::message_frame_size(0, bundle.names.size()) - spindle::varint_size(0);
  std::uint32_t index = 0;
  for (const BundledMessage& message : bundle.messages) {
    const std::size_t payload = message.payload.size();
    const std::size_t size =
        rest + spindle::varint_size(payload) + protocol::place_size(order_bytes, index++) + payload;
    frame_sizes_.push_back(static_cast<std::uint32_t>(size));
    bytes += size;
    payload_bytes += payload;
  }
  context_.counters.add(Counter::messages_delivered, to.size() * bundle.messages.size());
  context_.counters.add(Counter::bytes_delivered, to.size() * payload_bytes);
  const std::uint8_t* encoded = nullptr;
  for (const SessionId id : to) {
    Session* session = find_open(id);
    if (session == nullptr) continue;
    tell_order(*session, bundle.at);
    std::uint8_t* at = session->queue().append_message_space(frame_sizes_);
    if (encoded == nullptr) {
      spindle::Writer writer(at);
      protocol::PackedHead head = head_of(bundle);
      for (const BundledMessage& message : bundle.messages) {
        head.type = message.type;
        head.chunk_bytes = message.payload.size();
        head.total = static_cast<std::uint32_t>(head.chunk_bytes);
        protocol::write_packed_head(writer, head);
        writer.bytes(message.payload);
        ++head.place.index;
      }
      encoded = at;
    } else {
      std::copy_n(encoded, bytes, at);
    }
    note_delivered(*session, bundle.groups, bundle.messages.size());
  }
}

void ClientDelivery::deliver_large(std::span<const SessionId> to, const ClientMessage& message) {
  context_.counters.add(Counter::messages_delivered, to.size());
  context_.counters.add(Counter::bytes_delivered, to.size() * message.total);
  note_order(message.at);
  // The frames are encoded once, with the payload in place; every session references them.
  const std::span<const Slice> chunks = message.chunks;
  const protocol::PackedHead head = head_of(message);
  const std::size_t head_size = protocol::packed_head_size(head);
  spindle::Writer head_writer(context_.arena.reserve(head_size));
  protocol::write_packed_head(head_writer, head);
  std::vector<Slice> heads{context_.arena.commit(head_size)};
  for (const Slice& chunk : chunks.subspan(std::min<std::size_t>(1, chunks.size()))) {
    spindle::Writer writer(context_.arena.reserve(spindle::kFrameHeadBytes));
    spindle::write_frame_head(writer, static_cast<std::uint8_t>(protocol::ClientFrame::message_more), chunk.size());
    heads.push_back(context_.arena.commit(spindle::kFrameHeadBytes));
  }
  const bool are_copies_small = to.size() * (message.total + message.names.size()) <= kCopiesBytesMax;
  for (const SessionId id : to) {
    Session* session = find_open(id);
    if (session == nullptr) continue;
    tell_order(*session, message.at);
    const bool copies = are_copies_small && session->marks.blocked;
    const std::size_t copy_max = copies ? kCopiesBytesMax : OutputQueue::kCopyBytesMax;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const Slice pieces[] = {heads[i], i < chunks.size() ? chunks[i] : Slice()};
      session->queue().append_frame(pieces, i == 0 ? FrameKind::message : FrameKind::message_more, copy_max);
    }
    note_delivered(*session, message.groups, 1);
  }
}

void ClientDelivery::note_order(const OrderedAt& at) {
  if (at.view == nullptr) return;
  // A daemon installs no two views of one number.
  const bool is_known = order_number_ != 0 && at.changes == order_changes_ && at.view->number == order_view_.number;
  if (is_known) return;
  order_view_ = *at.view;
  order_changes_ = at.changes;
  ++order_number_;
  order_frame_.clear();
  protocol::write_order_view(order_frame_,
                             {order_view_.number, order_view_.coordinator, order_view_.incarnation, order_changes_});
}

void ClientDelivery::tell_order(Session& session, const OrderedAt& at) {
  if (at.view == nullptr || session.marks.order == order_number_) return;
  session.marks.order = order_number_;
  session.queue().append_frame(order_frame_);
}

void ClientDelivery::note_delivered(Session& session, std::span<const std::string_view> groups, std::size_t messages) {
  session.count_delivered(messages);
  slow_clients_.note_message(session.id(), groups);
  sessions_.mark_dirty(session);
}

void ClientDelivery::deliver_view(std::span<const SessionId> to, const protocol::GroupViewFrame& view) {
  if (protocol::view_bytes(view) > protocol::kViewBytesMax) return give_up_view(to);
  std::vector<std::uint8_t> frame;
  protocol::write_view(frame, view);
  context_.counters.add(Counter::group_views, to.size());
  // Views that a member does not keep up with make the group dearer, as messages do: for who joins it, too.
  if (view.form == spindle::ViewForm::full || view.form == spindle::ViewForm::change) {
    for (const SessionId id : to) slow_clients_.note_message(id, std::array{view.group});
  }
  if (to.size() == 1 || frame.size() <= OutputQueue::kCopyBytesMax) return deliver_frame(to, frame);
  const Slice shared = context_.arena.copy(frame);
  for (const SessionId id : to) {
    Session* session = find_open(id);
    if (session == nullptr) continue;
    session->queue().append_frame(std::span(&shared, 1));
    sessions_.mark_dirty(*session);
  }
}

void ClientDelivery::give_up_view(std::span<const SessionId> to) {
  for (const SessionId id : to) {
    Session* session = sessions_.find(id);
    if (session == nullptr) continue;
    session->marks.view_too_large = true;
    sessions_.mark_dirty(*session);
  }
}

void ClientDelivery::deliver_transitional(std::span<const SessionId> to, std::string_view group) {
  std::vector<std::uint8_t> frame;
  protocol::write_transitional(frame, group);
  deliver_frame(to, frame);
}

void ClientDelivery::deliver_flush_request(std::span<const SessionId> to, const protocol::Flush& request) {
  std::vector<std::uint8_t> frame;
  protocol::write_flush(frame, protocol::ClientFrame::flush_request, request);
  deliver_frame(to, frame);
}

void ClientDelivery::refuse_join(SessionId id, std::string_view group, Errc why) {
  Session* session = find_open(id);
  if (session == nullptr) return;
  session->refuse_join(group, why);
  sessions_.mark_dirty(*session);
}

void ClientDelivery::deliver_frame(std::span<const SessionId> to, ByteView frame) {
  for (const SessionId id : to) {
    Session* session = find_open(id);
    if (session == nullptr) continue;
    session->queue().append_frame(frame);
    sessions_.mark_dirty(*session);
  }
}

}  // namespace spindled
