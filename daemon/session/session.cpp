#include "daemon/session/session.h"

#include <array>

#include "daemon/base/check.h"
#include "daemon/session/client_errors.h"

namespace spindled {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

namespace {

/// Before the handshake a stranger gets to send no more than this.
constexpr std::size_t kHelloBytesMax = 1024;

/// Two names of 255 bytes, and some numbers.
constexpr std::size_t kOfferBytesMax = 1024;

/// What stands in a `feed_send` in front of the message.
constexpr std::size_t kFeedSendHeadMax = spindle::kVarintBytesMax;

/// What is read at once of a client where memory is short, if no frame is longer.
constexpr std::size_t kReadBytesShort = 4u << 10;

/// Questions whether messages have entered that may wait for their answers; what follows another one is not read.
constexpr std::size_t kConfirmsMax = 64;

/// Names that are read in the time in which one is looked up.
constexpr std::size_t kNamesReadOfOne = 8;

/// How often a client is told how many of its messages have entered, while others of them wait, and while none do.
constexpr Duration kTakenPeriodWaiting = 100ms;
constexpr Duration kTakenPeriod = 1s;

/// A client has promised to send something at least as often, and no oftener.
constexpr Duration kKeepaliveMin = 100ms;
constexpr int kSilentPeriods = 3;

std::size_t length_limit(ClientFrame type) {
  switch (type) {
    case ClientFrame::hello:
      return kHelloBytesMax;
    case ClientFrame::define:
      return protocol::kClientFrameBytesMax;
    case ClientFrame::send:
    case ClientFrame::send_more:
      return spindle::kChunkBytesMax + 64;
    case ClientFrame::bulk_offer:
      return kOfferBytesMax;
    case ClientFrame::feed_send:
      return protocol::kFeedMessageBytesMax + kFeedSendHeadMax;
    default:
      return 512;
  }
}

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

}  // namespace

Session::Session(Context& context, SessionHost& host, Groups& groups, Channels& channels, Feeds& feeds,
                 Admission& admission, Quotas& quotas, SessionId id, ConnectionId connection, Peer peer, Time now)
    : context_(context),
      host_(host),
      connection_(connection),
      peer_(std::move(peer)),
      opened_at_(now),
      queue_(context.slabs),
      watch_(context.config.session, context.memory),
      groups_(groups),
      access_(context, peer_),
      quota_(context, quotas, peer_),
      ingress_(context, groups, admission, access_, quota_, queue_, id),
      bulk_(context, channels, access_, ingress_, queue_),
      feeds_(context, feeds, access_, quota_, ingress_, queue_) {}

void Session::start_closing(Time now) {
  state_ = State::closing;
  closing_since_ = now;
  ingress_.close();
  confirms_.clear();
  quota_.close();
  input_.clear();
  resumption_.reset();
  queue_.stop_keeping();
  waiting_feeds_.reset();
}

SessionMemory Session::memory() const {
  SessionMemory memory;
  memory.unfinished = input_.unread().size() + ingress_.unfinished_bytes();
  memory.definitions = ingress_.definition_bytes();
  memory.held = std::max(ingress_.held_bytes(), ingress_.held_heap_bytes());
  memory.requests = ingress_.request_bytes();
  memory.heap = ingress_.held_heap_bytes() + memory.requests;
  memory.queued = queue_.bytes() + (waiting_feeds_ ? waiting_feeds_->bytes() : 0);
  memory.kept = queue_.kept_bytes();
  return memory;
}

Time Session::unfinished_since() const {
  return state_ == State::open && unfinished_ && !waiting_ ? frame_at_ : kNever;
}

std::span<std::uint8_t> Session::read_space() {
  const std::span<std::uint8_t> space = input_.prepare(context_.read_arena, wanted_);
  if (!context_.memory.is_short()) return space;
  const std::size_t held = input_.unread().size();
  return space.first(std::min(space.size(), std::max(kReadBytesShort, wanted_ > held ? wanted_ - held : 0)));
}

void Session::commit_read(std::size_t bytes) {
  bytes_in_ += bytes;
  silent_looks_ = 0;
  input_.commit(context_.read_arena, bytes);
}

std::optional<Error> Session::process(Time now) {
  if (!unfinished_ || waiting_) frame_at_ = now;
  answer_confirms();  // there is room for more then
  std::optional<Error> error = take_frames(now);
  tell_refused();
  answer_confirms();
  unfinished_ = !input_.unread().empty() || (ingress_.has_begun() && !ingress_.has_complete());
  return error;
}

std::optional<Error> Session::take_frames(Time now) {
  waiting_ = waits_for_room_ = false;
  retry_at_ = kNever;
  for (;;) {
    if (ingress_.has_complete()) {
      Verdict verdict;
      if (auto error = ingress_.send_complete(now, input_, verdict)) return error;
      waiting_ = !verdict.is_admitted();
      if (waiting_) {
        retry_at_ = verdict.retry_at;
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
    if (!may_go_on(now, context_.turn.may_take_input())) {
      waiting_ = true;
      return std::nullopt;
    }
    if (!try_admit(now, type, input_.unread().subspan(spindle::kFrameHeadBytes, head->length))) {
      waiting_ = true;
      return std::nullopt;
    }
    context_.turn.count_input(1);
    input_.skip(spindle::kFrameHeadBytes);
    frame_at_ = now;
    if (auto error = handle_frame(now, type, input_.take(head->length))) return error;
    if (state_ == State::closing || resume_) return std::nullopt;
    note_frame(now, type);
  }
}

bool Session::try_admit(Time now, ClientFrame type, ByteView body) {
  if (state_ != State::open) return true;
  if (ingress_.held_bytes() > context_.config.session.held_bytes_max) return false;
  switch (type) {
    case ClientFrame::send:
      return body.size() <= spindle::kChunkBytesMax || host_.may_send_part(*this);
    case ClientFrame::send_more:
      return host_.may_send_part(*this);
    case ClientFrame::join:
      return try_admit_change(now, Admission::Change::join, body);
    case ClientFrame::leave:
      return try_admit_change(now, Admission::Change::leave, body);
    case ClientFrame::view_request:
      return try_admit_view_request(now, body);
    case ClientFrame::confirm:
      if (confirms_.size() >= kConfirmsMax) return false;
      [[fallthrough]];
    case ClientFrame::flow_request:
      waits_for_room_ = !has_room();
      return !waits_for_room_;
    case ClientFrame::bye:
      return !ingress_.holds_messages() && !ingress_.has_open_requests();
    case ClientFrame::define:
      return try_admit_define(now, body);
    case ClientFrame::flush_ok:
      return try_admit_flush_ok(now, body);
    default:
      if (protocol::is_feed_request(type)) return try_admit_feed(now, type, body);
      return !protocol::is_bulk_request(type) || try_admit_bulk(now, type, body);
  }
}

bool Session::try_admit_change(Time now, Admission::Change change, ByteView body) {
  if (!ingress_.has_room_for_requests()) return false;
  waits_for_room_ = !has_room();
  if (waits_for_room_) return false;
  if (access_.has_rules() && !may_go_on(now, context_.turn.may_check())) return false;
  const ClientFrame type = change == Admission::Change::join ? ClientFrame::join : ClientFrame::leave;
  const std::optional<protocol::GroupRequest> request = protocol::read_group_request(type, body);
  if (!request) return true;  // it is refused
  refused_ = wrong_request(type, std::string(request->group));
  if (refused_) return true;
  // What it sent as a member of a synchronous group is of its last view, also where it was put out of that.
  const bool begins_anew = type == ClientFrame::join && is_expelled_from(request->group);
  const bool is_last = type == ClientFrame::leave && groups_.is_in_synchronous(id(), request->group);
  if ((begins_anew || is_last) && !has_sent_all_to(now, request->group)) return false;
  const Verdict verdict = ingress_.try_admit_change(now, change, std::string(request->group));
  retry_at_ = verdict.retry_at;
  return verdict.is_admitted();
}

bool Session::try_admit_view_request(Time now, ByteView body) {
  const std::optional<protocol::GroupRequest> request = protocol::read_group_request(ClientFrame::view_request, body);
  if (request && ingress_.waits_for_requests_of(request->group)) return false;
  waits_for_room_ = !has_room();
  return !waits_for_room_ && may_go_on(now, !context_.turn.is_over());  // an answer has the names of all members
}

bool Session::has_sent_all_to(Time now, std::string_view group) {
  if (!ingress_.holds_messages()) return true;
  return may_go_on(now, context_.turn.may_check()) && !ingress_.holds_messages_to(group);
}

bool Session::is_expelled_from(std::string_view group) const {
  return !groups_.flushes().expelled_from(id(), {std::string(group)}).empty();
}

bool Session::try_admit_flush_ok(Time now, ByteView body) {
  const std::optional<protocol::Flush> answer = protocol::read_flush(body);
  if (!answer || !groups_.flushes().is_wanted(id(), *answer)) return true;
  return has_sent_all_to(now, answer->group);
}

bool Session::try_admit_define(Time now, ByteView body) {
  if (!ingress_.holds_messages() && !access_.has_rules()) return true;
  const std::optional<protocol::Define> define = protocol::read_define(body);
  if (!define) return true;  // it is refused
  context_.turn.count_input(define->groups.size() / kNamesReadOfOne);
  if (ingress_.holds(define->handle)) return false;
  return may_go_on(now, ingress_.judge(*define));
}

bool Session::try_admit_bulk(Time now, ClientFrame type, ByteView body) {
  waits_for_room_ = !has_room();
  if (waits_for_room_) return false;
  const Verdict verdict = bulk_.try_admit(now, type, body);
  retry_at_ = verdict.retry_at;
  return verdict.is_admitted();
}

bool Session::try_admit_feed(Time now, ClientFrame type, ByteView body) {
  const bool is_answered = type != ClientFrame::feed_send && type != ClientFrame::feed_close;
  waits_for_room_ = is_answered && !has_room();
  if (waits_for_room_) return false;
  const Verdict verdict = feeds_.try_admit(now, type, body);
  retry_at_ = verdict.retry_at;
  return verdict.is_admitted();
}

bool Session::may_go_on(Time now, bool has_room) {
  if (!has_room) retry_at_ = now;
  return has_room;
}

std::optional<Error> Session::handle_frame(Time now, ClientFrame type, Slice body) {
  if ((type == ClientFrame::hello) != (state_ == State::handshake)) {
    return Error{Errc::unexpected_frame, fmt::format("a frame of type {} {} the handshake", static_cast<int>(type),
                                                     state_ == State::handshake ? "before" : "after")};
  }
  const bool unfinished = ingress_.has_begun() && type != ClientFrame::send_more;
  if (unfinished && type == ClientFrame::send) {
    return Error{Errc::unexpected_frame, "a message began before the one before was complete"};
  }
  switch (type) {
    case ClientFrame::hello:
      return handle_hello(now, body.view());
    case ClientFrame::define:
      return handle_define(body.view());
    case ClientFrame::send:
      return handle_send(std::move(body));
    case ClientFrame::send_more:
      return ingress_.add(std::move(body));
    case ClientFrame::join:
    case ClientFrame::leave:
    case ClientFrame::view_request:
      return handle_group_request(now, type, body.view());
    case ClientFrame::flow_request:
      return handle_flow_request(now, body.view());
    case ClientFrame::ping:
      return handle_ping(body.view());
    case ClientFrame::received:
      return handle_received(now, body.view());
    case ClientFrame::confirm:
      return handle_confirm(body.view());
    case ClientFrame::flush_ok:
      return handle_flush_ok(now, body.view());
    case ClientFrame::bye:
      ingress_.tell_refused();  // nothing is told behind the close, however much waits
      return Error{Errc::closed_by_client, {}};
    case ClientFrame::bulk_token_request:
      return bulk_.handle_token_request(body.view(), [this] { return host_.draw_secret(); });
    default:
      if (protocol::is_bulk_request(type)) return bulk_.handle(now, type, body.view());
      if (protocol::is_feed_request(type)) return feeds_.handle(now, type, body.view());
      return Error{Errc::unexpected_frame,
                   fmt::format("a client does not send frames of type {}", static_cast<int>(type))};
  }
}

std::optional<Error> Session::handle_hello(Time now, ByteView body) {
  const std::optional<protocol::Hello> hello = protocol::read_hello(body);
  if (!hello) return malformed("hello");
  if (hello->version_min > protocol::kClientVersionMax || hello->version_max < protocol::kClientVersionMin) {
    return Error{Errc::version_mismatch,
                 fmt::format("the client speaks versions {} to {}, this daemon {} to {}", hello->version_min,
                             hello->version_max, protocol::kClientVersionMin, protocol::kClientVersionMax)};
  }
  if (std::optional<Error> refusal = identify(hello->token)) {
    context_.counters.add(Counter::tokens_refused);
    // The token itself is in no line and in no answer.
    Log(context_.log_sink, "access").warning("a client from {} is refused: {}", peer(), refusal->message());
    return refusal;
  }
  if (hello->resume && host_.may_resume(*this, *hello->resume)) {
    if (!input_.unread().empty()) {
      return Error{Errc::unexpected_frame,
                   "a client that takes up its session waits for the welcome before it goes on"};
    }
    resume_ = hello->resume;
    return std::nullopt;
  }
  const int policy = (hello->flags & protocol::kSlowPolicyMask) >> protocol::kSlowPolicyShift;
  if (policy != 0) watch_.set_policy(static_cast<SlowPolicy>(policy));
  if (!hello->name.empty() && !access_.may_be_called(hello->name)) {
    context_.counters.add(Counter::access_denied);
    return Error{Errc::access_denied, fmt::format("the name {} is reserved for others ([[names]])", hello->name)};
  }
  if (std::optional<Error> too_many = quota_.open()) return too_many;
  Result<std::string> name = host_.take_name(now, *this, hello->name);
  if (!name) return name.error();
  wants_taken_ = (hello->flags & protocol::kTellTakenBit) != 0;
  ingress_.open(std::move(*name), (hello->flags & protocol::kIndependentFlowsBit) != 0);
  state_ = State::open;
  context_.counters.add(Counter::sessions_opened);
  if (hello->keepalive_ms != 0) {
    keepalive_ = std::max<Duration>(std::chrono::milliseconds(hello->keepalive_ms), kKeepaliveMin);
  }
  moves_ = hello->moves;
  if (hello->wants_channels) bulk_.open();
  welcome(*hello);
  return std::nullopt;
}

void Session::welcome(const protocol::Hello& hello) {
  const std::string private_name = spindle::make_private_name(name(), context_.config.name);
  protocol::Welcome welcome{std::min(hello.version_max, protocol::kClientVersionMax), private_name};
  const Duration timeout = context_.config.session.resume_timeout;
  const bool may_come_back = hello.is_resumable && peer_.may_come_back && timeout != Duration::zero();
  if (const auto secret = may_come_back ? host_.draw_secret() : std::nullopt) {
    resumption_.emplace(protocol::SessionKey{id(), *secret});
    queue_.start_keeping();
    welcome.resumable = {resumption_->key(), static_cast<std::uint32_t>(timeout / 1ms)};
  }
  std::vector<std::uint8_t> frame;
  protocol::write_welcome(frame, welcome);
  queue_.push_preface(frame);
}

std::optional<Error> Session::identify(std::string_view token) {
  if (token.empty()) {
    if (!peer_.needs_token) return std::nullopt;
    return Error{Errc::token_missing, "a client without a certificate has to send a token (ConnectOptions::token)"};
  }
  if (!peer_.is_private) {
    return Error{Errc::token_exposed,
                 "a token came over TCP without TLS, where others could read it: have another one made, and send it by "
                 "\"tls:\" or to the unix socket"};
  }
  Result<std::string> identity = host_.identify(*this, token);
  if (!identity) return identity.error();
  peer_.identities.insert(peer_.identities.begin(), std::move(*identity));
  return std::nullopt;
}

std::optional<Error> Session::handle_define(ByteView body) {
  const std::optional<protocol::Define> define = protocol::read_define(body);
  return define ? ingress_.define(*define) : malformed("define");
}

std::optional<Error> Session::handle_send(Slice&& body) {
  const std::optional<protocol::Send> send = protocol::read_send(body.view());
  return send ? ingress_.begin(*send, std::move(body)) : malformed("send");
}

bool Session::note_requests_done() {
  if (!ingress_.may_go_on_after_requests() || (!waiting_ && !ingress_.holds_messages())) return false;
  requests_done_ = true;
  return true;
}

void Session::note_frame(Time now, ClientFrame type) {
  if (type == ClientFrame::hello) return;
  ++frames_in_;
  if (!resumption_) return;
  const bool is_news = type != ClientFrame::ping && type != ClientFrame::received;
  resumption_->note_taken(now, frames_taken(), bytes_in_, is_news);
}

std::uint64_t Session::frames_taken() const { return frames_in_ + ingress_.taken_along(); }

void Session::tell(Time now) {
  if (tell_taken_at() <= now) tell_taken(now);
  if (!resumption_ || resumption_->tell_at() > now) return;
  std::vector<std::uint8_t> frame;
  protocol::write_received(frame, ClientFrame::received_by_daemon, resumption_->tell());
  queue_.append_frame(frame);
}

Time Session::tell_at() const {
  return resumption_ ? std::min(tell_taken_at(), resumption_->tell_at()) : tell_taken_at();
}

void Session::tell_taken(Time now) {
  taken_told_ = ingress_.messages();
  taken_told_at_ = now;
  std::vector<std::uint8_t> frame;
  protocol::write_taken(frame, taken_told_);
  queue_.append_frame(frame);
}

Time Session::tell_taken_at() const {
  if (!wants_taken_ || ingress_.messages() == taken_told_) return kNever;
  return taken_told_at_ + (is_waiting() || ingress_.holds_messages() ? kTakenPeriodWaiting : kTakenPeriod);
}

std::optional<Error> Session::handle_group_request(Time now, ClientFrame type, ByteView body) {
  const std::optional<protocol::GroupRequest> request = protocol::read_group_request(type, body);
  if (!request) return malformed("group request");
  const std::string group(request->group);
  std::optional<Errc> refused =
      type == ClientFrame::view_request ? wrong_request(type, group) : std::exchange(refused_, std::nullopt);
  // Who is in the group already is told that, and nothing of quotas.
  if (!refused && type == ClientFrame::join && !groups_.requests().is_member(id(), group) && !quota_.may_join())
    refused = Errc::too_many_memberships;
  if (!refused) {
    const bool synchronous = (request->flags & protocol::kSynchronousBit) != 0;
    refused = type == ClientFrame::join    ? groups_.requests().join(now, id(), group, synchronous)
              : type == ClientFrame::leave ? groups_.requests().leave(now, id(), group)
                                           : groups_.views().answer(id(), group);
    quota_.note_memberships(groups_.requests().count_of(id()));
  }
  if (!refused && type == ClientFrame::join) groups_.flushes().readmit(id(), group);
  if (refused == Errc::access_denied) {
    context_.counters.add(Counter::access_denied);
    access_.log_denied("join", group, name());
  }
  std::vector<std::uint8_t> frame;
  protocol::write_reply(frame,
                        {request->request, static_cast<std::uint16_t>(refused ? static_cast<int>(*refused) : 0)});
  queue_.append_frame(frame);
  return std::nullopt;
}

std::optional<Errc> Session::wrong_request(ClientFrame type, const std::string& group) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (type != ClientFrame::join) return std::nullopt;
  const bool is_allowed =
      access_.may(Right::join, group) && (access_.may(Right::create, group) || groups_.has_members(group));
  return is_allowed ? std::nullopt : std::optional(Errc::access_denied);
}

bool Session::take_out(Time now, const std::string& group, Errc why) {
  if (groups_.requests().leave(now, id(), group)) return false;
  tell_refused_membership(protocol::Refused::What::membership, group, why);
  if (queue_.is_keeping()) put_out_at_ = queue_.frames();
  return true;
}

void Session::refuse_join(std::string_view group, Errc why) {
  tell_refused_membership(protocol::Refused::What::join, group, why);
}

void Session::tell_refused_membership(protocol::Refused::What what, std::string_view group, Errc why) {
  quota_.note_memberships(groups_.requests().count_of(id()));
  std::vector<std::uint8_t> frame;
  protocol::write_refused(frame, {what, static_cast<std::uint16_t>(why), 0, group});
  queue_.append_frame(frame);
}

std::optional<Error> Session::handle_flow_request(Time now, ByteView body) {
  const std::optional<protocol::FlowRequest> request = protocol::read_flow_request(body);
  if (!request) return malformed("flow request");
  if (!ingress_.is_defined(request->handle)) return undefined(request->handle);
  std::vector<std::uint8_t> frame;
  protocol::write_flow_report(frame, to_report(ingress_.flow_state(now, request->handle), request->request));
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

std::optional<Error> Session::handle_received(Time now, ByteView body) {
  const std::optional<std::uint64_t> frames = protocol::read_received(body);
  if (!frames) return malformed("received");
  if (!resumption_) return Error{Errc::unexpected_frame, "the session cannot be taken up again, and counts no frames"};
  resume_window_.note_got(now, *frames, context_.config.session.resume_bytes);
  if (!queue_.is_keeping() || queue_.acknowledge(*frames)) return std::nullopt;
  return Error{Errc::malformed_frame, fmt::format("{} frames are none that the client can have got", *frames)};
}

// --- Another connection ---

void Session::detach(Time now) {
  detached_since_ = now;
  input_.clear();
  ingress_.forget_judgement();
  wanted_ = 0;
  unfinished_ = false;
  waiting_ = ingress_.has_complete();
  waiting_when_detached_ = queue_.bytes_without_feeds();
}

bool Session::holds_too_much() const {
  // What senders pay for has its bound elsewhere. Of others no more is kept than they could come back to.
  const std::size_t paid_for = watch_.policy() == SlowPolicy::price ? waiting_when_detached_ : 0;
  return queue_.bytes_without_feeds() > paid_for + context_.config.session.queue_hard_bytes;
}

void Session::attach(Time now, Session& fresh) {
  connection_ = fresh.connection_;
  peer_.address = fresh.peer_.address;
  bytes_in_ += fresh.bytes_in_;
  silent_looks_ = 0;
  detached_since_ = kNever;
  SPINDLE_CHECK(queue_.acknowledge(fresh.resume_->received));
  queue_.rewind();
  watch_.note_return(now, queue_.bytes_without_feeds());
  const std::string private_name = spindle::make_private_name(name(), context_.config.name);
  protocol::Welcome welcome{protocol::kClientVersionMax, private_name};
  const Duration timeout = context_.config.session.resume_timeout;
  welcome.resumable = {resumption_->key(), static_cast<std::uint32_t>(timeout / 1ms)};
  welcome.resumed = frames_taken();
  std::vector<std::uint8_t> frame;
  protocol::write_welcome(frame, welcome);
  queue_.push_preface(frame);
}

bool Session::may_write(Time now) {
  if (!marks.reading || queue_.kept_bytes() < resume_window_.bytes(context_.config.session.resume_bytes)) return true;
  resume_window_.note_full(now, queue_.frames_written());
  return false;
}

bool Session::look_for_silence(Duration period) {
  if (keepalive_ == Duration::zero() || state_ != State::open || is_detached() || !marks.reading) return false;
  // Looks are counted, and not time: after a pause of the daemon what has come meanwhile is read before the next one.
  ++silent_looks_;
  return is_silent(period);
}

bool Session::is_silent(Duration period) const { return silent_looks_ * period > kSilentPeriods * keepalive_; }

void Session::tell_going() {
  std::vector<std::uint8_t> frame;
  protocol::write_going(frame, static_cast<std::uint32_t>(context_.config.session.going_time / 1ms));
  queue_.push_urgent(frame);
}

std::optional<Error> Session::handle_confirm(ByteView body) {
  const std::optional<std::uint32_t> request = protocol::read_confirm(body);
  if (!request) return malformed("confirm");
  confirms_.push_back({*request, ingress_.held_so_far()});
  answer_confirms();
  return std::nullopt;
}

void Session::answer_confirms() {
  while (!confirms_.empty() && ingress_.has_entered(confirms_.front().held)) {
    ingress_.tell_refused();  // what was refused is told before
    std::vector<std::uint8_t> frame;
    protocol::write_confirmed(frame, {confirms_.front().request, ingress_.messages()});
    queue_.append_frame(frame);
    confirms_.pop_front();
  }
}

std::optional<Error> Session::handle_flush_ok(Time now, ByteView body) {
  const std::optional<protocol::Flush> answer = protocol::read_flush(body);
  if (!answer) return malformed("flush_ok");
  groups_.flushes().answer(now, id(), *answer);
  return std::nullopt;
}

// --- What it has yet to read ---

void Session::note_written(Time now, std::size_t bytes) {
  queue_.consume(bytes);
  bytes_out_ += bytes;
  if (bytes != 0) watch_.note_progress(now);
  const SessionConfig& config = context_.config.session;
  if (queue_.kept_bytes() > config.resume_bytes + config.queue_hard_bytes) {
    stop_keeping(fmt::format("{} bytes were written to it and none read of it", queue_.kept_bytes()));
  }
  tell_refused();
}

void Session::stop_keeping(std::string_view why) {
  Log(context_.log_sink, "session").info("client {} from {} cannot come back to this session: {}", name(), peer(), why);
  queue_.stop_keeping();
}

bool Session::give_up_return() {
  if (is_detached() || queue_.kept_bytes() == 0) return false;
  stop_keeping("the daemon has no memory left for what it would have to get again");
  return true;
}

std::optional<Error> Session::hold_to_limits(Time now) {
  watch_.note_look(now);
  const std::size_t bytes = queue_.bytes_without_feeds();
  if (const std::optional<unsigned> percent = watch_.note_length(now, bytes)) warn(*percent);
  if (const std::optional<Duration> stalled = watch_.note_stall(now)) {
    Log(context_.log_sink, "session")
        .warning(
            "client {} from {} has read nothing for {:.1f} s, and {} bytes wait for it: who sends to its groups "
            "slows down for it, until it reads or is cut off after {:.0f} s (session.stall_timeout_ms)",
            name(), peer(), to_seconds(*stalled), bytes, to_seconds(context_.config.session.stall_timeout));
  }
  if (bytes > watch_.drop_from()) drop_messages(watch_.drop_to());
  std::optional<std::string> objection = watch_.objection(now, queue_.bytes_without_feeds());
  if (!objection) return std::nullopt;
  return Error{Errc::slow_receiver, std::move(*objection)};
}

bool Session::drop_messages(std::size_t keep) {
  if (watch_.policy() != SlowPolicy::drop) return false;
  const SessionQueue::Dropped dropped = queue_.drop_oldest(keep);
  context_.counters.add(Counter::messages_dropped, dropped.messages);
  context_.counters.add(Counter::bytes_dropped, dropped.bytes);
  return dropped.messages != 0;
}

void Session::warn(unsigned percent) {
  const std::string_view then = watch_.policy() == SlowPolicy::drop    ? "loses messages"
                                : watch_.policy() == SlowPolicy::price ? "is cut off where it reads nothing"
                                                                       : "is cut off";
  Log(context_.log_sink, "session")
      .warning("client {} does not keep up: {} bytes wait for it, {} % of the limit of {} at which it {}", name(),
               queue_.bytes_without_feeds(), percent, watch_.limit(), then);
  context_.counters.add(Counter::queue_warnings);
  std::vector<std::uint8_t> frame;
  protocol::write_warning(frame, {static_cast<std::uint8_t>(percent), queue_.bytes_without_feeds(), watch_.limit()});
  queue_.push_urgent(frame);
}

// --- Feeds ---

FeedQueue& Session::waiting_feeds() {
  if (!waiting_feeds_) waiting_feeds_ = std::make_unique<FeedQueue>(context_.slabs);
  return *waiting_feeds_;
}

std::size_t Session::hold_feeds_to_limit() {
  const auto allowed = static_cast<std::size_t>(context_.memory.allowance() * kFeedBytesWaiting);
  return waiting_feeds_->drop_oldest(std::max(allowed, kFeedBytesWaiting / 16));
}

std::size_t Session::drop_feeds() { return waiting_feeds_ ? waiting_feeds_->drop_oldest(0) : 0; }

bool Session::has_output() {
  if (feeds_.has_news()) feeds_.tell();
  if (waiting_feeds_) {
    waiting_feeds_->move_to(queue_, kFeedBytesQueued);
    if (waiting_feeds_->empty()) waiting_feeds_.reset();
  }
  return !queue_.empty();
}

bool Session::review_feeds(Time now) {
  return feeds_.review(now, [&](FeedHandle feed) { waiting_feeds().end({feed, protocol::FeedEnd::denied}); }) != 0;
}

}  // namespace spindled
