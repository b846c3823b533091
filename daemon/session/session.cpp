#include "daemon/session/session.h"

#include <array>

#include "daemon/admission/admission.h"
#include "daemon/link/link_limits.h"

namespace spindled {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

namespace {

/// Before the handshake a stranger gets to send no more than this.
constexpr std::size_t kHelloBytesMax = 512;

/// As many times as the names that a client defines they may take in memory, with what is resolved from them.
constexpr std::size_t kDefinitionCopies = 3;

/// Joins and leaves that a client may have under way: as many as keep one going whose subscriptions take seconds.
constexpr std::size_t kOpenRequestsMax = 4096;

/// What may stand in front of the payload in a `send` frame.
constexpr std::size_t kSendHeadMax = 2 * spindle::kVarintBytesMax + 3;

/// A message of no more enters at once: two packets are no burst.
constexpr std::size_t kUndividedBytesMax = 2 * kPacketBytes;

/// How often a client is told how many of its messages have entered, while others of them wait, and while none do.
constexpr Duration kTakenPeriodWaiting = 100ms;
constexpr Duration kTakenPeriod = 1s;

std::size_t length_limit(ClientFrame type) {
  switch (type) {
    case ClientFrame::hello:
      return kHelloBytesMax;
    case ClientFrame::define:
      return protocol::kClientFrameBytesMax;
    case ClientFrame::send:
    case ClientFrame::send_more:
      return spindle::kChunkBytesMax + 64;
    default:
      return 512;
  }
}

Error malformed(std::string_view what) { return {Errc::malformed_frame, fmt::format("malformed {} frame", what)}; }

protocol::FlowReport to_report(const FlowSnapshot& state, std::uint32_t request) {
  const auto thousandths = [](double value) { return static_cast<std::uint64_t>(std::clamp(value, 0.0, 1e15) * 1000); };
  protocol::FlowReport report;
  report.request = request;
  report.price = thousandths(state.price);
  report.budget = static_cast<std::int64_t>(std::clamp(state.budget, -1e15, 1e15) * 1000);
  report.period = static_cast<std::uint64_t>(std::max<Duration::rep>(state.salary_period / 1us, 0));
  report.rate = thousandths(state.rate);
  report.blocked = static_cast<std::uint16_t>(std::clamp(state.blocked_share, 0.0, 1.0) * protocol::kBlockedMax);
  report.limit = state.limited_by;
  return report;
}

Error undefined(std::uint32_t handle) {
  return {Errc::malformed_frame, fmt::format("destination set {} is not defined", handle)};
}

}  // namespace

Session::Session(Context& context, SessionHost& host, SessionId id, ConnectionId connection, std::string peer, Time now)
    : context_(context),
      host_(host),
      connection_(connection),
      peer_(std::move(peer)),
      opened_at_(now),
      queue_(context.slabs),
      watch_(context.config.session) {
  sender_.session = id;
}

void Session::start_closing(Time now) {
  state_ = State::closing;
  closing_since_ = now;
  flows_.reset();
  forget_incoming();
  input_.clear();
  destinations_ = DestinationTable();
}

SessionMemory Session::memory() const {
  SessionMemory memory;
  memory.unfinished = input_.unread().size() + (incoming_ ? incoming_->received : 0);
  memory.definitions = kDefinitionCopies * destinations_.bytes();
  memory.held = held_bytes();
  memory.queued = queue_.bytes();
  return memory;
}

Time Session::unfinished_since() const {
  return state_ == State::open && unfinished_ && !waiting_ ? frame_at_ : kNever;
}

void Session::commit_read(std::size_t bytes) {
  traffic_.bytes_in += bytes;
  input_.commit(context_.read_arena, bytes);
}

std::optional<Error> Session::process(Time now) {
  if (!unfinished_ || waiting_) frame_at_ = now;
  std::optional<Error> error = take_frames(now);
  unfinished_ = !input_.unread().empty() || (incoming_ && !is_message_complete());
  return error;
}

std::optional<Error> Session::take_frames(Time now) {
  waiting_ = waits_for_room_ = false;
  retry_at_ = kNever;
  for (;;) {
    if (is_message_complete()) {
      bundle_followers();
      incoming_->message.chunks = chunks_;
      incoming_->message.bundle = bundle_;
      if (flows_) {
        if (auto error = send_or_hold(now)) return error;
      } else if (!send_message(now)) {
        waiting_ = true;
        return std::nullopt;
      }
    }
    const std::optional<spindle::FrameHead> head = spindle::read_frame_head(input_.unread());
    wanted_ = 0;
    if (!head) return std::nullopt;
    const auto type = static_cast<ClientFrame>(head->type);
    if (head->length > length_limit(type)) {
      return Error{Errc::frame_too_large, fmt::format("a frame of type {} has {} bytes", head->type, head->length)};
    }
    wanted_ = spindle::kFrameHeadBytes + head->length;
    if (input_.unread().size() < wanted_) return std::nullopt;
    if (must_wait(now, type, input_.unread().subspan(spindle::kFrameHeadBytes, head->length))) {
      waiting_ = true;
      return std::nullopt;
    }
    input_.skip(spindle::kFrameHeadBytes);
    frame_at_ = now;
    if (auto error = handle_frame(now, type, input_.take(head->length))) return error;
    if (state_ == State::closing) return std::nullopt;
  }
}

bool Session::must_wait(Time now, ClientFrame type, ByteView body) {
  if (state_ != State::open) return false;
  if (flows_ && flows_->bytes() > context_.config.session.held_bytes_max) return true;
  switch (type) {
    case ClientFrame::send:
      return host_.is_memory_short() && body.size() > spindle::kChunkBytesMax;
    case ClientFrame::join:
    case ClientFrame::leave:
      return must_change_wait(now);
    case ClientFrame::view_request: {
      const std::optional<protocol::GroupRequest> request = protocol::read_group_request(body);
      if (request && waits_for_requests(std::array{request->group})) return true;
      waits_for_room_ = !has_room();
      if (waits_for_room_) return true;
      if (!context_.turn.is_over()) return false;
      retry_at_ = now;  // an answer has the names of all members: in the next turn
      return true;
    }
    case ClientFrame::flow_request:
      waits_for_room_ = !has_room();
      return waits_for_room_;
    case ClientFrame::bye:
      return holds_messages() || sender_.open_requests != 0;
    case ClientFrame::define: {
      if (!holds_messages()) return false;
      const std::optional<protocol::Define> define = protocol::read_define(body);
      return define && flows_->holds(define->handle);
    }
    default:
      return false;
  }
}

bool Session::must_change_wait(Time now) {
  if (sender_.open_requests >= kOpenRequestsMax) return true;
  waits_for_room_ = !has_room();
  if (waits_for_room_) return true;
  const std::optional<Time> until = host_.membership_waits_until(now, membership_budget_);
  retry_at_ = until.value_or(kNever);
  return until.has_value();
}

std::optional<Error> Session::handle_frame(Time now, ClientFrame type, Slice body) {
  if ((type == ClientFrame::hello) != (state_ == State::handshake)) {
    return Error{Errc::unexpected_frame, fmt::format("a frame of type {} {} the handshake", static_cast<int>(type),
                                                     state_ == State::handshake ? "before" : "after")};
  }
  const bool unfinished = incoming_ && type != ClientFrame::send_more;
  if (unfinished && type == ClientFrame::send) {
    return Error{Errc::unexpected_frame, "a message began before the one before was complete"};
  }
  switch (type) {
    case ClientFrame::hello:
      return handle_hello(body.view());
    case ClientFrame::define:
      return handle_define(body.view());
    case ClientFrame::send:
      return handle_send(std::move(body));
    case ClientFrame::send_more:
      return handle_send_more(std::move(body));
    case ClientFrame::join:
    case ClientFrame::leave:
    case ClientFrame::view_request:
      return handle_group_request(now, type, body.view());
    case ClientFrame::flow_request:
      return handle_flow_request(now, body.view());
    case ClientFrame::ping:
      return handle_ping(body.view());
    case ClientFrame::bye:
      return Error{Errc::closed_by_client, {}};
    default:
      return Error{Errc::unexpected_frame,
                   fmt::format("a client does not send frames of type {}", static_cast<int>(type))};
  }
}

std::optional<Error> Session::handle_hello(ByteView body) {
  const std::optional<protocol::Hello> hello = protocol::read_hello(body);
  if (!hello) return malformed("hello");
  if (hello->version_min > protocol::kClientVersionMax || hello->version_max < protocol::kClientVersionMin) {
    return Error{Errc::version_mismatch,
                 fmt::format("the client speaks versions {} to {}, this daemon {} to {}", hello->version_min,
                             hello->version_max, protocol::kClientVersionMin, protocol::kClientVersionMax)};
  }
  const int policy = (hello->flags & protocol::kSlowPolicyMask) >> protocol::kSlowPolicyShift;
  if (policy != 0) watch_.set_policy(static_cast<SlowPolicy>(policy));
  Result<std::string> name = host_.take_name(*this, hello->name);
  if (!name) return name.error();
  wants_taken_ = (hello->flags & protocol::kTellTakenBit) != 0;
  if ((hello->flags & protocol::kIndependentFlowsBit) != 0) flows_.emplace(context_, static_cast<FlowGate&>(*this));
  sender_.client = std::move(*name);
  state_ = State::open;
  context_.counters.add(Counter::sessions_opened);
  host_.groups().requests().open_session(sender_);
  const std::string private_name = spindle::make_private_name(sender_.client, context_.config.name);
  std::vector<std::uint8_t> frame;
  protocol::write_welcome(frame, {std::min(hello->version_max, protocol::kClientVersionMax), private_name});
  queue_.append_frame(frame);
  return std::nullopt;
}

std::optional<Error> Session::handle_define(ByteView body) {
  const std::optional<protocol::Define> define = protocol::read_define(body);
  if (!define) return malformed("define");
  if (incoming_ && incoming_->handle == define->handle) {
    return Error{Errc::unexpected_frame, "the destinations of an unfinished message were redefined"};
  }
  return destinations_.define(*define);
}

std::optional<Error> Session::handle_send(Slice body) {
  const std::optional<protocol::Send> send = protocol::read_send(body.view());
  if (!send) return malformed("send");
  if (!destinations_.is_defined(send->handle)) return undefined(send->handle);
  IncomingMessage& incoming = incoming_.emplace();
  incoming.handle = send->handle;
  incoming.received = send->chunk.size();
  fill(incoming.message, *send);
  if (!send->chunk.empty()) {
    body.remove_prefix(body.size() - send->chunk.size());
    chunks_.push_back(std::move(body));
  }
  return std::nullopt;
}

std::optional<Error> Session::handle_send_more(Slice body) {
  if (!incoming_) return Error{Errc::unexpected_frame, "the rest of a message came without its beginning"};
  const std::size_t expected =
      std::min<std::size_t>(spindle::kChunkBytesMax, incoming_->message.total - incoming_->received);
  if (body.size() != expected) return malformed("send_more");
  incoming_->received += body.size();
  chunks_.push_back(std::move(body));
  return std::nullopt;
}

void Session::fill(ClientSend& message, const protocol::Send& send) const {
  message.service = static_cast<Service>(send.service);
  message.self_discard = send.self_discard;
  message.type = send.type;
  message.total = send.total;
  const std::size_t sender_bytes = 2 + sender_.client.size() + context_.config.name.size();  // of "#client#daemon"
  message.weight = bundle_weight(send.total, sender_bytes + destinations_[send.handle].names_bytes);
}

void Session::bundle_followers() {
  IncomingMessage& incoming = *incoming_;
  while (incoming.message.weight < kBundleWeightMax) {
    const ByteView unread = input_.unread();
    const std::optional<spindle::FrameHead> head = spindle::read_frame_head(unread);
    if (!head || static_cast<ClientFrame>(head->type) != ClientFrame::send) return;
    // Most that are too heavy need not be read to see it.
    const std::size_t room = kBundleWeightMax - incoming.message.weight;
    if (head->length > room + kSendHeadMax || unread.size() < spindle::kFrameHeadBytes + head->length) return;
    // One that is malformed is left to whoever reads it next.
    const auto next = protocol::read_send(unread.subspan(spindle::kFrameHeadBytes, head->length));
    if (!next || next->handle != incoming.handle) return;
    ClientSend follower;
    fill(follower, *next);
    if (!may_go_along(incoming.message, follower)) return;
    go_along(incoming.message, first_view(chunks_), bundle_, follower, next->chunk);
    chunks_.clear();
    incoming.received = incoming.message.total;
    input_.skip(spindle::kFrameHeadBytes + head->length);
  }
}

bool Session::send_message(Time now) {
  if (!may_enter(now, incoming_->handle, incoming_->message)) {
    retry_at_ = retry_at(incoming_->handle);
    return false;
  }
  enter(now, incoming_->handle, incoming_->message);
  forget_incoming();
  return true;
}

std::optional<Error> Session::send_or_hold(Time now) {
  const std::uint32_t handle = incoming_->handle;
  std::optional<Error> error = flows_->send(now, handle, destinations_[handle].flow->number, incoming_->message);
  forget_incoming();
  return error;
}

void Session::release_held(Time now, bool all) {
  if (flows_) flows_->release(now, all);
}

bool Session::note_requests_done() {
  const bool may_go_on = sender_.open_requests == 0 || sender_.open_requests == kOpenRequestsMax / 2 || flows_;
  if (!may_go_on || (!waiting_ && !holds_messages())) return false;
  requests_done_ = true;
  return true;
}

bool Session::may_enter(Time now, std::uint32_t handle, const ClientSend& message) {
  DefinedSet& set = destinations_[handle];
  if (waits_for_requests(set.to.names)) return false;
  const bool is_large = message.total > kUndividedBytesMax && message.messages == 1;
  // Of an unreliable one a part that is lost would cost the whole.
  if (is_large && message.service != Service::unreliable) return may_rest_enter(now, set, message);
  return host_.may_enter(now, set.flow->flow, set.to, message.total);
}

bool Session::may_rest_enter(Time now, DefinedSet& set, const ClientSend& message) {
  Groups& groups = host_.groups();
  Flow& flow = set.flow->flow;
  std::uint64_t& entering = set.flow->entering;
  for (;;) {
    const std::size_t rest = message.total - groups.sender().sent_ahead(entering);
    const std::size_t part = host_.is_congested(flow, set.to) ? groups.sender().next_part(entering, message) : 0;
    if (part == 0) return host_.may_enter(now, flow, set.to, rest);
    const std::size_t admitted = host_.admit_part(now, flow, set.to, part);
    if (admitted == 0 || admitted == rest) return admitted != 0;
    entering = groups.sender().send_part(now, sender_, set.to, message, entering, admitted);
    ++parts_;
  }
}

void Session::enter(Time now, std::uint32_t handle, const ClientSend& message) {
  traffic_.messages_in += message.messages;
  DefinedSet& set = destinations_[handle];
  if (const std::uint64_t entering = std::exchange(set.flow->entering, 0); entering != 0) {
    host_.groups().sender().send_rest(now, sender_, set.to, message, entering);
  } else {
    host_.groups().sender().send(now, sender_, set.to, message);
  }
}

void Session::tell_admitted(std::uint32_t handle, std::size_t bytes) {
  std::vector<std::uint8_t> frame;
  protocol::write_admitted(frame, {handle, static_cast<std::uint32_t>(bytes)});
  queue_.append_frame(frame);
}

void Session::tell_taken(Time now) {
  taken_told_ = traffic_.messages_in;
  taken_told_at_ = now;
  std::vector<std::uint8_t> frame;
  protocol::write_taken(frame, taken_told_);
  queue_.append_frame(frame);
}

Time Session::tell_taken_at() const {
  if (!wants_taken_ || traffic_.messages_in == taken_told_) return kNever;
  return taken_told_at_ + (is_waiting() || holds_messages() ? kTakenPeriodWaiting : kTakenPeriod);
}

std::optional<Error> Session::handle_group_request(Time now, ClientFrame type, ByteView body) {
  const std::optional<protocol::GroupRequest> request = protocol::read_group_request(body);
  if (!request) return malformed("group request");
  const std::string group(request->group);
  std::optional<Errc> refused = Errc::bad_group_name;
  if (spindle::is_group_name(group)) {
    Groups& groups = host_.groups();
    if (type != ClientFrame::view_request) ++changes_;
    if (type == ClientFrame::join) host_.pay_for_join(membership_budget_, group);
    if (type == ClientFrame::leave) host_.pay_for_leave(membership_budget_, group);
    refused = type == ClientFrame::join    ? groups.requests().join(now, id(), group)
              : type == ClientFrame::leave ? groups.requests().leave(now, id(), group)
                                           : groups.views().answer(id(), group);
  }
  std::vector<std::uint8_t> frame;
  protocol::write_reply(frame,
                        {request->request, static_cast<std::uint16_t>(refused ? static_cast<int>(*refused) : 0)});
  queue_.append_frame(frame);
  return std::nullopt;
}

std::optional<Error> Session::handle_flow_request(Time now, ByteView body) {
  const std::optional<protocol::FlowRequest> request = protocol::read_flow_request(body);
  if (!request) return malformed("flow request");
  if (!destinations_.is_defined(request->handle)) return undefined(request->handle);
  DefinedSet& set = destinations_[request->handle];
  const FlowSnapshot state = host_.flow_state(now, set.flow->flow, set.to);
  std::vector<std::uint8_t> frame;
  protocol::write_flow_report(frame, to_report(state, request->request));
  queue_.append_frame(frame);
  return std::nullopt;
}

std::optional<Error> Session::handle_ping(ByteView body) {
  const std::optional<std::uint64_t> token = protocol::read_ping(body);
  if (!token) return malformed("ping");
  std::vector<std::uint8_t> frame;
  protocol::write_ping(frame, ClientFrame::pong, *token);
  queue_.append_frame(frame);
  return std::nullopt;
}

// --- What it has yet to read ---

void Session::note_written(Time now, std::size_t bytes) {
  queue_.consume(bytes);
  traffic_.bytes_out += bytes;
  if (bytes != 0) watch_.note_progress(now);
}

std::optional<Error> Session::hold_to_limits(Time now) {
  if (const std::optional<unsigned> percent = watch_.note_length(now, queue_.bytes())) warn(*percent);
  if (const std::optional<Duration> stalled = watch_.note_stall(now)) {
    Log(context_.log_sink, "session")
        .warning(
            "client {} from {} has read nothing for {:.1f} s, and {} bytes wait for it: who sends to its groups "
            "slows down for it, until it reads or is cut off after {:.0f} s (session.stall_timeout_ms)",
            name(), peer_, to_seconds(*stalled), queue_.bytes(), to_seconds(context_.config.session.stall_timeout));
  }
  if (watch_.must_drop(queue_.bytes())) {
    const SessionQueue::Dropped dropped = queue_.drop_oldest(watch_.drop_to());
    context_.counters.add(Counter::messages_dropped, dropped.messages);
    context_.counters.add(Counter::bytes_dropped, dropped.bytes);
  }
  std::optional<std::string> objection = watch_.objection(now, queue_.bytes());
  if (!objection) return std::nullopt;
  return Error{Errc::slow_receiver, std::move(*objection)};
}

void Session::warn(unsigned percent) {
  const std::string_view then = watch_.policy() == SlowPolicy::drop    ? "loses messages"
                                : watch_.policy() == SlowPolicy::price ? "is cut off where it reads nothing"
                                                                       : "is cut off";
  Log(context_.log_sink, "session")
      .warning("client {} does not keep up: {} bytes wait for it, {} % of the limit of {} at which it {}", name(),
               queue_.bytes(), percent, watch_.limit(), then);
  context_.counters.add(Counter::queue_warnings);
  std::vector<std::uint8_t> frame;
  protocol::write_warning(frame, {static_cast<std::uint8_t>(percent), queue_.bytes(), watch_.limit()});
  queue_.push_urgent(frame);
}

}  // namespace spindled
