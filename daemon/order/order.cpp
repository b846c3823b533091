#include "daemon/order/order.h"

#include "libclient/common/limits.h"

namespace spindled {

namespace {
/// Payload chunks up to this size are copied behind their header; larger ones are referenced.
constexpr std::size_t kChunkCopyBytesMax = OutputQueue::kCopyBytesMax;

/// That others may let go of less than this part of `acknowledge_every_bytes` is told late.
constexpr std::size_t kLittleNews = 4;

/// Where so many messages of an origin went to others only since the last report, the next one is due sooner: in this
/// part of `acknowledge_within`.
constexpr std::uint64_t kMuchPassesBy = 64;
constexpr int kSooner = 10;

/// Whether a message waits for its place in the order.
bool takes_a_place(MessageClass message_class, Service service) {
  return message_class != MessageClass::order && is_ordered(service);
}
}  // namespace

Order::Order(Context& context, StreamTransport& transport, OrderedMessages& above)
    : context_(context), log_(context.log_sink, "order"), transport_(transport), above_(above) {
  handle_frames();
}

template <auto Read, typename Take>
void Order::handle(LinkFrame type, Take take) {
  transport_.handle(type, [this, take](Time now, LinkId, const Slice& content) {
    const auto frame = Read(content.view());
    if (!frame || frame->from >= view_.size()) return false;
    if (is_open()) (this->*take)(now, *frame);
    return true;
  });
}

void Order::handle_frames() {
  transport_.handle(LinkFrame::data, [this](Time now, LinkId, Slice content) {
    data_received(now, std::move(content));
    return true;
  });
  handle<read_report>(LinkFrame::report, &Order::report_received);
  handle<read_stable>(LinkFrame::stable, &Order::stable_received);
  handle<read_ready>(LinkFrame::ready, &Order::ready_received);
}

template <auto Write, typename Frame>
void Order::send(LinkFrame type, const MemberSet& to, const Frame& frame) {
  std::array<std::uint8_t, kReportBytesMax> bytes;
  transport_.send(type, to, {bytes.data(), Write(bytes.data(), frame)});
}

std::size_t Order::retained_bytes() const {
  std::size_t bytes = own_.retained_bytes();
  for (const IncomingStream& stream : incoming_) bytes += stream.retained_bytes();
  return bytes;
}

std::size_t Order::foreign_bytes_max() const {
  std::size_t most = 0;
  for (const IncomingStream& stream : incoming_) most = std::max(most, stream.retained_bytes());
  return most;
}

std::size_t Order::unordered_bytes() const {
  std::size_t bytes = 0;
  for (const IncomingStream& stream : incoming_) {
    for (std::size_t i = 0; i < stream.ordered().size(); ++i) bytes += stream.ordered()[i].delivery.content_size();
  }
  return bytes;
}

std::size_t Order::pushed_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [place, body] : pushed_) bytes += body.size();
  return bytes;
}

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
      cut.push_back(context_.arena.copy(envelope.subspan(at, size)));
    }
    cut.insert(cut.end(), chunks.begin(), chunks.end());
    envelope = {};
    chunks = cut;
  }

  BodyHead head;
  head.origin = view_.self;
  head.service = message.service;
  head.message_class = message.message_class;
  if (head.service == Service::unreliable && chunks.size() > 1) head.service = Service::reliable;
  const std::size_t fragments = std::max<std::size_t>(1, chunks.size());
  for (std::size_t i = 0; i < fragments; ++i) {
    head.first = i == 0;
    head.last = i + 1 == fragments;
    head.number = head.service == Service::unreliable ? 0 : own_.next_number();
    head.after = head.last && head.service == Service::fifo ? rank_behind(message) : 0;
    head.seen = has_seen(head) ? order_.processed() : 0;
    send_fragment(now, head, *message.destinations, i == 0 ? envelope : ByteView(),
                  chunks.empty() ? Slice() : chunks[i]);
  }
  if (!takes_a_place(head.message_class, head.service)) return;
  append_message(unreported_, view_.self, head.service == Service::safe, head.number, *message.destinations);
  if (message.sender != nullptr) *message.sender = {epoch_, head.number};
}

std::uint64_t Order::rank_behind(const OutgoingMessage& message) const {
  return message.sender != nullptr && message.sender->epoch == epoch_ ? message.sender->last_ordered : 0;
}

void Order::send_fragment(Time now, const BodyHead& head, const MemberSet& destinations, ByteView envelope,
                          const Slice& chunk) {
  const std::size_t head_size = body_head_size(head, destinations);
  const bool copied = chunk.size() <= kChunkCopyBytesMax;
  const std::size_t size = head_size + envelope.size() + (copied ? chunk.size() : 0);
  Writer writer(context_.arena.reserve(size));
  write_body_head(writer, head, destinations);
  writer.bytes(envelope);
  if (copied) writer.bytes(chunk.view());
  const Slice body = context_.arena.commit(size);
  const Slice tail = copied ? Slice() : chunk;

  if (head.number == 0) {
    transport_.multicast_unreliable(destinations, body, tail);
  } else {
    transport_.multicast(destinations, body, tail);
    own_.retain(head.number, body, tail, destinations);
  }
  if (destinations.contains(view_.self)) take_content(now, head, body.part(head_size), tail);
}

// --- On the way in ---

void Order::data_received(Time now, Slice bytes) {
  if (!is_open()) return;
  const std::optional<Body> body = read_body(bytes.view());
  if (!body || body->head.origin >= view_.size() || body->head.origin == view_.self) {
    log_.error("a message that cannot be of this view was dropped ({} bytes)", bytes.size());
    return;
  }
  IncomingStream& stream = incoming_[body->head.origin];
  if (body->head.number != 0) {
    if (body->head.number <= stream.high()) {
      log_.error("message {} of {} came after {}: dropped", body->head.number, view_.members[body->head.origin].name,
                 stream.high());
      return;
    }
    stream.retain(body->head.number, bytes);
  }
  bytes.remove_prefix(body->content_offset);
  take_content(now, body->head, std::move(bytes), Slice());
  if (stream.has_news()) {
    // What is stable is a prefix of the stream: a few messages to this daemon hold up many to others.
    const bool holds_up = stream.passed_by() >= kMuchPassesBy;
    const Duration interval = context_.config.order.acknowledge_within;
    timers_.set_earlier(Timer::report, now + (holds_up ? interval / kSooner : interval));
  }
  if (stream.bytes_since_report() >= context_.config.order.acknowledge_every_bytes) reports_due_ = true;
}

void Order::take_content(Time now, const BodyHead& head, Slice first, Slice rest) {
  IncomingStream& stream = incoming_[head.origin];
  if (takes_a_place(head.message_class, head.service)) {
    // Put together where it waits for its place.
    PendingMessage& pending = stream.ordered().push_back();
    pending.seen = head.seen;
    if (!stream.accept(head, std::move(first), std::move(rest), pending.delivery)) stream.ordered().pop_back();
    return;
  }
  Delivery delivery;
  if (!stream.accept(head, std::move(first), std::move(rest), delivery)) return;
  if (delivery.message_class == MessageClass::order) {
    take_order_message(delivery);
  } else if (head.after == 0 || !stream.follow(head.after, delivery)) {
    above_.deliver(now, delivery);
  }
}

void Order::take_order_message(const Delivery& delivery) {
  std::vector<std::uint8_t> joined;
  const ByteView content = delivery.contiguous(joined);
  const std::optional<OrderOperation> operation = order_operation(content);
  if (operation == OrderOperation::run_report && sequencer_) {
    // Once frozen nothing more is ordered: what stays unordered is delivered at the end of the view.
    if (!is_open()) return;
    if (auto report = read_run_report(content, delivery.origin, view_.size())) {
      sequencer_->take(delivery.origin, std::move(*report));
      return;
    }
  } else if (operation == OrderOperation::order_record && delivery.origin == view_.sequencer) {
    const auto record = read_order_record(content, view_.size());
    if (record && order_.append(*record)) {
      horizon_ = std::max(horizon_, record->horizon);
      safe_line_ = std::max(safe_line_, record->safe_line);
      return;
    }
  }
  log_.error("an order message of {} makes no sense and was dropped", view_.members[delivery.origin].name);
}

void Order::report_received(Time now, const Report& report) {
  if (!is_open()) return;
  if (!own_.acknowledge(report.from, report.high)) {
    log_.error("a report of what was never sent was dropped");
    return;
  }
  if (!own_.has_news()) return;
  const OrderConfig& config = context_.config.order;
  // Before anything takes the room that this has made: who is told afterwards would hold the old and the new.
  if (own_.released_since_announcement() >= config.acknowledge_every_bytes) return announce_stable();
  const bool is_little = own_.released_since_announcement() < little_news();
  timers_.set_earlier(Timer::stable, now + (is_little ? config.announce_stable_within : config.acknowledge_within));
}

/// Where many daemons send a little each, a word about every message costs more than what it frees is worth. But what
/// all together have not told yet leaves room for what is not stable.
std::size_t Order::little_news() const {
  const OrderConfig& config = context_.config.order;
  return std::min(config.acknowledge_every_bytes, config.retention_bytes_max / view_.size()) / kLittleNews;
}

void Order::stable_received(Time, const Stable& stable) {
  if (is_open() && stable.from < incoming_.size()) incoming_[stable.from].release(stable.line);
}

void Order::ready_received(Time, const Ready& ready) {
  if (is_open() && sequencer_ && ready.from < view_.size()) sequencer_->ready(ready.from, ready.line);
}

// --- Through the order ---

void Order::go_through_order(Time now) {
  while (!order_.empty()) {
    const Run& run = order_.front();
    if (!run.destinations.contains(view_.self)) {
      order_.advance(run.count);
      continue;
    }
    Ring<PendingMessage>& pending = incoming_[run.origin].ordered();
    if (pending.empty()) return;
    if (run.safe && order_.processed() >= safe_line_) return;
    if (above_.is_busy()) return;
    const PendingMessage front = take_front();
    above_.deliver_at_once(now, front.delivery);
    deliver_followers(now, front);
  }
}

PendingMessage Order::take_front() {
  const Run& run = order_.front();
  const std::uint64_t number = run.first;
  PendingMessage pending = incoming_[run.origin].pass_ordered();
  order_.advance(1);
  // Destination sets say who waits for what: a difference means that the origin and its report disagree.
  if (pending.delivery.number != number) {
    log_.error("message {} of {} stands where {} was ordered", pending.delivery.number,
               view_.members[pending.delivery.origin].name, number);
  }
  pending.delivery.position = order_.processed();
  return pending;
}

void Order::deliver_followers(Time now, const PendingMessage& pending) {
  if (!pending.followers) return;
  for (const Delivery& follower : *pending.followers) above_.deliver(now, follower);
}

std::uint64_t Order::ready_line() { return ready_line_.advance(order_, incoming_, view_.self); }

// --- The end of a turn ---

void Order::flush(Time now) {
  if (!is_open()) return;
  bool more = true;
  while (more) {
    const std::uint64_t told_horizon = horizon_;
    go_through_order(now);
    if (sequencer_) {
      more = send_records(now);
    } else {
      more = send_runs(now);
    }
    if (horizon_ != handed_up_horizon_) {
      handed_up_horizon_ = horizon_;
      above_.horizon_advanced(now, horizon_);
      more = true;
    }
    more = more || told_horizon != horizon_ || !unreported_.empty();
  }
  send_ready_line();
  if (reports_due_ && !above_.is_behind()) send_reports(Reports::much);
  if (own_.released_since_announcement() >= context_.config.order.acknowledge_every_bytes) announce_stable();
}

bool Order::send_runs(Time now) {
  if (unreported_.empty() && !progress_wanted_) return false;
  progress_wanted_ = false;
  RunReport report{order_.processed(), std::exchange(unreported_, {})};
  send_order_message(now, sequencer_set_, write_run_report(report));
  return true;
}

bool Order::send_records(Time now) {
  if (!unreported_.empty() || progress_wanted_) {
    progress_wanted_ = false;
    sequencer_->take(view_.self, {order_.processed(), std::exchange(unreported_, {})});
  }
  if (order_.last_safe() > safe_line_) sequencer_->ready(view_.self, ready_line());
  bool sent = false;
  while (const std::optional<OrderRecord> record = sequencer_->next_record()) {
    context_.counters.add(Counter::order_records_sent);
    context_.counters.add(Counter::order_runs, record->runs.size());
    send_order_message(now, everybody_, write_order_record(*record));
    sent = true;
  }
  return sent;
}

void Order::send_order_message(Time now, const MemberSet& to, const std::vector<std::uint8_t>& content) {
  OutgoingMessage message;
  message.message_class = MessageClass::order;
  message.service = Service::reliable;
  message.destinations = &to;
  message.envelope = content;
  originate(now, message);
}

void Order::send_ready_line() {
  if (sequencer_ || order_.last_safe() <= safe_line_) return;
  const std::uint64_t line = ready_line();
  if (line <= told_ready_) return;
  told_ready_ = line;
  send<write_ready>(LinkFrame::ready, sequencer_set_, Ready{view_.self, line});
}

void Order::send_reports(Reports which) {
  reports_due_ = false;
  bool news_left = false;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (i == view_.self) continue;
    IncomingStream& stream = incoming_[i];
    const bool much = stream.bytes_since_report() >= context_.config.order.acknowledge_every_bytes;
    if (much || (which == Reports::news && stream.has_news())) {
      stream.reported();
      send<write_report>(LinkFrame::report, MemberSet::of(static_cast<MemberIndex>(i)),
                         Report{view_.self, stream.high()});
    } else {
      news_left = news_left || stream.has_news();
    }
  }
  if (!news_left) timers_.stop(Timer::report);
}

void Order::announce_stable() {
  timers_.stop(Timer::stable);
  const MemberSet holders = own_.take_holders();
  if (!holders.empty()) send<write_stable>(LinkFrame::stable, holders, Stable{view_.self, own_.stable_line()});
}

void Order::handle_time(Time now) {
  if (timers_.take_due(Timer::report, now)) {
    if (above_.is_behind()) {
      timers_.set(Timer::report, now + context_.config.order.acknowledge_within);
    } else {
      send_reports(Reports::news);
    }
  }
  if (timers_.take_due(Timer::stable, now)) announce_stable();
}

}  // namespace spindled
