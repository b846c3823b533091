#include "daemon/order/order.h"

#include "daemon/order/view_closing.h"
#include "libclient/common/limits.h"

namespace spindled {

namespace {
/// Payload chunks up to this size are copied behind their header; larger ones are referenced.
constexpr std::size_t kChunkCopyBytesMax = OutputQueue::kCopyBytesMax;

/// Whether a message waits for its place in the order.
bool takes_a_place(MessageClass message_class, Service service) {
  return message_class != MessageClass::order && is_ordered(service);
}
}  // namespace

Order::Order(Context& context, StreamTransport& transport, OrderedMessages& above, OrderObserver* observer)
    : state_(context, transport, above, observer), stability_(state_), sequencing_(state_) {
  handle_frames();
}

template <auto Read, typename Take>
void Order::handle_short(LinkFrame type, Take take) {
  state_.transport.handle(type, [this, take](Time now, LinkId, const Slice& content) {
    const auto frame = Read(content.view());
    if (!frame || frame->from >= state_.view.size()) return false;
    (this->*take)(now, *frame);
    return true;
  });
}

void Order::handle_frames() {
  state_.transport.handle(LinkFrame::data, [this](Time now, LinkId, Slice content) {
    data_received(now, std::move(content));
    return true;
  });
  handle_short<read_acknowledgement>(LinkFrame::acknowledgement, &Order::acknowledgement_received);
  handle_short<read_stable>(LinkFrame::stable, &Order::stable_received);
  handle_short<read_ready>(LinkFrame::ready, &Order::ready_received);
}

std::size_t Order::retained_bytes() const {
  std::size_t bytes = state_.own.retained_bytes();
  for (const IncomingStream& stream : state_.incoming) bytes += stream.retained_bytes();
  return bytes;
}

std::size_t Order::foreign_bytes_max() const {
  std::size_t most = 0;
  for (const IncomingStream& stream : state_.incoming) most = std::max(most, stream.retained_bytes());
  return most;
}

std::size_t Order::unordered_bytes() const {
  std::size_t bytes = 0;
  for (const IncomingStream& stream : state_.incoming) bytes += stream.ordered_bytes();
  return bytes;
}

std::size_t Order::own_unordered_bytes() const {
  const bool has_view = state_.view.self < state_.incoming.size();
  return has_view ? state_.incoming[state_.view.self].ordered_bytes() : 0;
}

std::size_t Order::pushed_bytes() const { return recovery_ ? recovery_->held_bytes() : 0; }

// --- On the way out ---

void Order::originate(Time now, const OutgoingMessage& message) {
  SPINDLE_CHECK(is_open());
  if (message.destinations->empty()) return;

  // An envelope alone can be long (a daemon with many clients announces them all): it is cut like a payload.
  std::vector<Slice> cut;
  ByteView envelope = message.envelope;
  std::span<const Slice> chunks = message.chunks;
  if (envelope.size() + spindle::kChunkBytesMax > kFragmentBytesMax) {
    for (std::size_t at = 0; at < envelope.size(); at += spindle::kChunkBytesMax) {
      const std::size_t size = std::min(spindle::kChunkBytesMax, envelope.size() - at);
      cut.push_back(state_.context.arena.copy(envelope.subspan(at, size)));
    }
    cut.insert(cut.end(), chunks.begin(), chunks.end());
    envelope = {};
    chunks = cut;
  }

  BodyHead head;
  head.origin = state_.view.self;
  head.service = message.service;
  head.message_class = message.message_class;
  if (head.service == Service::unreliable && chunks.size() > 1) head.service = Service::reliable;
  const std::size_t fragments = std::max<std::size_t>(1, chunks.size());
  for (std::size_t i = 0; i < fragments; ++i) {
    head.first = i == 0;
    head.last = i + 1 == fragments;
    head.number = head.service == Service::unreliable ? 0 : state_.own.next_number();
    head.after = head.last && head.service == Service::fifo ? rank_behind(message) : 0;
    head.seen = has_seen(head) ? state_.order.processed() : 0;
    send_fragment(now, head, *message.destinations, i == 0 ? envelope : ByteView(),
                  chunks.empty() ? Slice() : chunks[i]);
  }
  if (!takes_a_place(head.message_class, head.service)) return;
  sequencing_.note_sent(head.service == Service::safe, head.number, *message.destinations);
  if (message.sender != nullptr) *message.sender = {state_.epoch, head.number};
}

std::uint64_t Order::rank_behind(const OutgoingMessage& message) const {
  return message.sender != nullptr && message.sender->epoch == state_.epoch ? message.sender->last_ordered : 0;
}

void Order::send_fragment(Time now, const BodyHead& head, const MemberSet& destinations, ByteView envelope,
                          const Slice& chunk) {
  const std::size_t head_size = body_head_size(head, destinations);
  const bool copied = chunk.size() <= kChunkCopyBytesMax;
  const std::size_t size = head_size + envelope.size() + (copied ? chunk.size() : 0);
  Writer writer(state_.context.arena.reserve(size));
  write_body_head(writer, head, destinations);
  writer.bytes(envelope);
  if (copied) writer.bytes(chunk.view());
  const Slice body = state_.context.arena.commit(size);
  const Slice tail = copied ? Slice() : chunk;

  if (head.number == 0) {
    state_.transport.multicast_unreliable(destinations, body, tail);
  } else {
    state_.transport.multicast(destinations, body, tail);
    state_.own.retain(head.number, body, tail, destinations);
  }
  if (destinations.contains(state_.view.self)) take_content(now, head, body.part(head_size), tail);
}

// --- On the way in ---

void Order::data_received(Time now, Slice bytes) {
  if (!is_open()) return;
  const std::optional<Body> body = read_body(bytes.view());
  if (!body || body->head.origin >= state_.view.size() || body->head.origin == state_.view.self) {
    state_.log.error("a message that cannot be of this view was dropped ({} bytes)", bytes.size());
    return;
  }
  IncomingStream& stream = state_.incoming[body->head.origin];
  if (body->head.number != 0) {
    if (body->head.number <= stream.high()) {
      state_.log.error("message {} of {} came after {}: dropped", body->head.number,
                       state_.view.members[body->head.origin].name, stream.high());
      return;
    }
    state_.retention.retain(state_.incoming, body->head.origin, body->head.number, bytes);
  }
  bytes.remove_prefix(body->content_offset);
  take_content(now, body->head, std::move(bytes), Slice());
  stability_.note_received(now, stream);
}

void Order::take_content(Time now, const BodyHead& head, Slice first, Slice rest) {
  IncomingStream& stream = state_.incoming[head.origin];
  if (takes_a_place(head.message_class, head.service)) {
    return stream.accept_ordered(head, std::move(first), std::move(rest));
  }
  Delivery delivery;
  if (!stream.accept(head, std::move(first), std::move(rest), delivery)) return;
  if (delivery.message_class == MessageClass::order) {
    sequencing_.take(delivery);
  } else if (head.after == 0 || !stream.follow(head.after, delivery)) {
    state_.deliver(now, delivery);
  }
}

void Order::acknowledgement_received(Time now, const Acknowledgement& acknowledgement) {
  if (is_open()) stability_.take_acknowledgement(now, acknowledgement);
}

void Order::stable_received(Time, const Stable& stable) {
  if (is_open()) stability_.take_announcement(stable);
}

void Order::ready_received(Time, const Ready& ready) {
  if (is_open()) sequencing_.take_ready(ready);
}

// --- Through the order ---

void Order::go_through_order(Time now) {
  while (!state_.order.empty()) {
    const Run& run = state_.order.front();
    if (!run.destinations.contains(state_.view.self)) {
      state_.order.advance(run.count);
      continue;
    }
    Ring<PendingMessage>& pending = state_.incoming[run.origin].ordered();
    if (pending.empty()) return;
    if (run.safe && state_.order.processed() >= sequencing_.safe_line()) return;
    if (state_.held_up.must_wait()) {
      is_lagging_ = true;
      return;
    }
    const PendingMessage front = state_.take_front();
    state_.deliver_at_once(now, front.delivery);
    state_.deliver_followers(now, front);
  }
}

// --- The end of a turn ---

void Order::flush(Time now) {
  is_lagging_ = false;
  state_.held_up.go_on(now);
  if (!is_open()) return;
  bool more = true;
  while (more) {
    const std::uint64_t horizon = sequencing_.horizon();
    go_through_order(now);
    more = send_order_messages(now);
    if (sequencing_.take_horizon_news()) {
      state_.tell(now, &OrderedMessages::horizon_advanced, sequencing_.horizon());
      more = true;
    }
    more = more || horizon != sequencing_.horizon() || sequencing_.has_unreported();
  }
  sequencing_.send_ready_line();
  stability_.flush();
}

bool Order::send_order_messages(Time now) {
  bool sent = false;
  sequencing_.begin_round();
  while (const std::optional<std::vector<std::uint8_t>> content = sequencing_.next_message()) {
    OutgoingMessage message;
    message.message_class = MessageClass::order;
    message.service = Service::reliable;
    message.destinations = &sequencing_.destinations();
    message.envelope = *content;
    originate(now, message);
    sent = true;
  }
  return sent;
}

void Order::handle_time(Time now) { stability_.handle_time(now); }

// --- The life of a view ---

FrozenState Order::freeze(Time) {
  state_.phase = Phase::frozen;
  stability_.stop();
  FrozenState frozen;
  frozen.safe_line = sequencing_.safe_line();
  frozen.processed = state_.order.processed();
  frozen.stable = state_.own.stable_line();
  frozen.high.reserve(state_.incoming.size());
  for (const IncomingStream& stream : state_.incoming) frozen.high.push_back(stream.high());
  frozen.high[state_.view.self] = state_.own.last_number();
  return frozen;
}

std::vector<PushOut> Order::plan_pushes(const Commit& commit, MemberIndex self) {
  return recovery_.emplace(state_, commit, self).plan();
}

bool Order::accept_push(Slice bytes) {
  SPINDLE_CHECK(recovery_);
  return recovery_->accept(std::move(bytes));
}

void Order::recovered(Time now) {
  take_retransmitted(now, Recovery::Streams::of_members);
  recovery_->complete_streams();
}

void Order::install(Time now, const View& view, const Transition& transition) {
  MemberSet came_along;
  if (state_.phase == Phase::closed) {
    came_along.insert(view.self);
  } else {
    SPINDLE_CHECK(state_.phase == Phase::frozen);
    SPINDLE_CHECK(recovery_);  // by the commit that this view comes from
    take_retransmitted(now, Recovery::Streams::all);
    ViewClosing(state_, recovery_->set(), transition).close(now);
    recovery_.reset();
    for (const Transition::Member& member : transition.members) came_along.insert(member.index);
  }
  state_.open(view);
  stability_.restart();
  sequencing_.restart();
  if (state_.observer != nullptr) state_.observer->view_installed(state_.view, came_along);
  state_.tell(now, &OrderedMessages::view_installed, state_.view, came_along);
}

void Order::take_retransmitted(Time now, Recovery::Streams streams) {
  for (const Slice& bytes : recovery_->take(streams)) {
    const std::optional<Body> body = read_body(bytes.view());
    IncomingStream& stream = state_.incoming[body->head.origin];
    if (body->head.number <= stream.high()) continue;
    state_.retention.retain(state_.incoming, body->head.origin, body->head.number, bytes);
    take_content(now, body->head, bytes.part(body->content_offset), Slice());
  }
}

}  // namespace spindled
