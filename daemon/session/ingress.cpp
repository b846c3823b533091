#include "daemon/session/ingress.h"

#include "daemon/link/link_limits.h"
#include "daemon/session/client_errors.h"

namespace spindled {

namespace protocol = spindle::protocol;

namespace {
/// As many times as the names that a client defines they may take in memory, with what is resolved from them.
constexpr std::size_t kDefinitionCopies = 3;

/// Joins and leaves that a client may have under way: as many as keep one going whose subscriptions take seconds.
constexpr std::size_t kOpenRequestsMax = 4096;

/// What one of them takes, about.
constexpr std::size_t kOpenRequestBytes = 320;

/// What may stand in front of the payload in a `send` frame.
constexpr std::size_t kSendHeadMax = 2 * spindle::kVarintBytesMax + 3;

/// A message of no more enters at once: two packets are no burst.
constexpr std::size_t kUndividedBytesMax = 2 * kPacketBytes;

/// Whether parts of the message may go ahead of the rest. Of an unreliable one a part that is lost would cost the
/// whole.
bool is_large(const ClientSend& message) {
  return message.total > kUndividedBytesMax && message.messages == 1 && message.service != Service::unreliable;
}

/// Of the names in front of what the client sends there: its own and those of the set.
std::size_t names_bytes_of(const Sender& sender, const Context& context, const DefinedSet& to) {
  const std::size_t sender_bytes = 2 + sender.client.size() + context.config.name.size();  // of "#client#daemon"
  return sender_bytes + to.names_bytes;
}

/// Has `message` be what the client sends with `send`, but for the payload. `names_bytes`: of sender and destinations.
void fill_in(ClientSend& message, const protocol::Send& send, std::size_t names_bytes) {
  message.service = static_cast<Service>(send.service);
  message.self_discard = send.self_discard;
  message.has_headers = send.has_headers;
  message.type = send.type;
  message.total = send.total;
  message.weight = bundle_weight(send.total, names_bytes);
}
}  // namespace

Ingress::Ingress(Context& context, Groups& groups, Admission& admission, ClientAccess& access, ClientQuota& quota,
                 SessionQueue& answers, SessionId session)
    : context_(context),
      groups_(groups),
      admission_(admission),
      access_(access),
      quota_(quota),
      config_version_(context.config_version()),
      answers_(answers) {
  sender_.session = session;
}

void Ingress::open(std::string client, bool has_independent_flows) {
  sender_.client = std::move(client);
  if (has_independent_flows) flows_.emplace(context_, static_cast<FlowGate&>(*this));
  groups_.open_session(sender_);
}

void Ingress::close() {
  flows_.reset();
  forget_incoming();
  destinations_ = DestinationTable();
  untold_.clear();
}

std::size_t Ingress::definition_bytes() const {
  return kDefinitionCopies * destinations_.bytes() + destinations_.table_bytes() + (flows_ ? flows_->table_bytes() : 0);
}

bool Ingress::holds_messages_to(std::string_view group) const {
  if (!holds_messages()) return false;
  return destinations_.any_of([&](std::uint32_t handle, const DestinationSet& set) {
    if (!flows_->holds(handle)) return false;
    context_.turn.count_check(set.names.size());
    return std::find(set.names.begin(), set.names.end(), group) != set.names.end();
  });
}

bool Ingress::waits_for_view(const std::vector<std::string>& names) const {
  context_.turn.count_input(names.size());
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return !groups_.flushes().may_send(sender_.session, name); });
}

bool Ingress::has_room_for_requests() const { return sender_.open_requests < kOpenRequestsMax; }

std::size_t Ingress::request_bytes() const { return sender_.open_requests * kOpenRequestBytes; }

bool Ingress::may_go_on_after_requests() const {
  return sender_.open_requests == 0 || sender_.open_requests == kOpenRequestsMax / 2 || flows_;
}

// --- Frames ---

std::optional<Error> Ingress::define(const protocol::Define& define) {
  if (incoming_ && incoming_->handle == define.handle) {
    return Error{Errc::unexpected_frame, "the destinations of an unfinished message were redefined"};
  }
  context_.turn.count_input(define.groups.size());
  // The number may stand for something else from here on.
  if (destinations_.is_defined(define.handle)) {
    const DefinedSet& former = destinations_[define.handle];
    context_.turn.count_input(former.to.names.size());
    if (former.refused != 0) tell_refused();
  }
  if (std::optional<Error> error = destinations_.define(define)) return error;
  if (destinations_.is_defined(define.handle)) destinations_[define.handle].to.session = sender_.session;
  if (judgement_.by == config_version_ && destinations_.is_defined(define.handle)) settle(destinations_[define.handle]);
  forget_judgement();
  return std::nullopt;
}

bool Ingress::judge(const protocol::Define& define) { return go_through(define.groups); }

template <typename Names>
bool Ingress::go_through(const Names& names) {
  if (judgement_.by != config_version_) judgement_ = {config_version_, 0, {}};
  while (judgement_.denied.empty() && judgement_.names < names.size()) {
    if (access_.has_rules() && !context_.turn.may_check()) return false;
    const std::string_view name = names[judgement_.names++];
    if (!access_.may(Right::send, name)) judgement_.denied = name;
  }
  return true;
}

std::optional<Error> Ingress::begin(const protocol::Send& send, Slice&& frame) {
  if (!destinations_.is_defined(send.handle)) return undefined(send.handle);
  DefinedSet& set = destinations_[send.handle];
  IncomingMessage& incoming = incoming_.emplace();
  incoming.handle = send.handle;
  incoming.received = send.chunk.size();
  fill(incoming.message, send);
  if (set.allowed_by != config_version_) {
    incoming.is_denied = set.denied_by == config_version_;
    incoming.is_judged = incoming.is_denied;
    if (incoming.is_denied) return std::nullopt;
  }
  if (!send.chunk.empty()) {
    frame.remove_prefix(frame.size() - send.chunk.size());
    chunks_.push_back(std::move(frame));
  }
  return std::nullopt;
}

std::optional<Error> Ingress::add(Slice chunk) {
  if (!incoming_) return Error{Errc::unexpected_frame, "the rest of a message came without its beginning"};
  const std::size_t expected =
      std::min<std::size_t>(spindle::kChunkBytesMax, incoming_->message.total - incoming_->received);
  if (chunk.size() != expected) return malformed("send_more");
  incoming_->received += chunk.size();
  if (!incoming_->is_denied) chunks_.push_back(std::move(chunk));
  return std::nullopt;
}

bool Ingress::judge_incoming() {
  DefinedSet& set = destinations_[incoming_->handle];
  if (!go_through(set.to.names)) return false;
  settle(set);
  forget_judgement();
  incoming_->is_judged = true;
  incoming_->is_denied = set.denied_by == config_version_;
  if (incoming_->is_denied) chunks_.clear();
  return true;
}

void Ingress::settle(DefinedSet& set) {
  quota_.refresh();
  has_rate_ = quota_.has_rate();
  if (judgement_.denied.empty()) {
    set.allowed_by = config_version_;
    return;
  }
  set.denied_by = config_version_;
  set.denied = judgement_.denied;
  access_.log_denied("send to", set.denied, sender_.client);
}

bool Ingress::refuse_synchronous(Time now, std::uint32_t handle, const ClientSend& message) {
  DefinedSet& set = destinations_[handle];
  const std::vector<std::string>& names = set.to.names;
  const Flushes& flushes = groups_.flushes();
  if (const std::string_view group = flushes.expelled_from(sender_.session, names); !group.empty()) {
    if (const std::uint64_t entering = std::exchange(set.flow->entering, 0); entering != 0) {
      groups_.sender().give_up_message(now, entering);
    }
    refuse(handle, Errc::flush_timeout, group, message.messages);
    return true;
  }
  if (message.service >= Service::fifo) return false;
  if (!may_reach_synchronous(set.to)) return false;
  context_.turn.count_input(names.size());
  const std::string_view group = groups_.synchronous_group_of(sender_.session, names);
  if (!group.empty()) refuse(handle, Errc::mode_mismatch, group, message.messages);
  return !group.empty();
}

bool Ingress::may_reach_synchronous(DestinationSet& to) const {
  if (sender_.open_requests != 0) return true;  // the table is not what it has asked for
  groups_.sender().resolve(to);
  return to.table_version == 0 || to.has_views;
}

void Ingress::refuse(std::uint32_t handle, Errc why, std::string_view name, std::uint64_t messages) {
  messages_ += messages;
  DefinedSet& set = destinations_[handle];
  if (set.refused != 0 && set.refused_why != why) tell_refused();
  set.refused_why = why;
  set.refused_name = name;
  if (set.refused == 0) untold_.push_back(handle);
  set.refused += messages;
}

void Ingress::tell_refused() {
  std::vector<std::uint8_t> frame;
  for (const std::uint32_t handle : untold_) {
    DefinedSet& set = destinations_[handle];
    frame.clear();
    protocol::write_refused(frame, {protocol::Refused::What::messages, static_cast<std::uint16_t>(set.refused_why),
                                    std::exchange(set.refused, 0), set.refused_name});
    answers_.append_frame(frame);
  }
  untold_.clear();
}

void Ingress::fill(ClientSend& message, const protocol::Send& send) const {
  fill_in(message, send, names_bytes_of(sender_, context_, destinations_[send.handle]));
}

FlowSnapshot Ingress::flow_state(Time now, std::uint32_t handle) {
  DefinedSet& set = destinations_[handle];
  groups_.sender().resolve(set.to);
  return flow_state(now, set.flow->flow, set.to);
}

FlowSnapshot Ingress::flow_state(Time now, const Flow& flow, const DestinationSet& to) const {
  FlowSnapshot state = admission_.state(now, flow, to);
  if (quota_.is_spent()) state.limited_by = "quota";
  return state;
}

Verdict Ingress::try_admit_change(Time now, Admission::Change change, const std::string& group) {
  const Verdict verdict = admission_.try_admit(now, membership_budget_, change, group);
  if (verdict.is_admitted()) ++changes_;
  return verdict;
}

// --- Messages ---

std::optional<Error> Ingress::send_complete(Time now, InputBuffer& input, Verdict& verdict) {
  const std::uint32_t handle = incoming_->handle;
  if (!incoming_->is_judged && !judge_incoming()) {
    verdict = {0, AdmissionWait::room, now};
    return std::nullopt;
  }
  if (incoming_->is_denied) {
    context_.counters.add(Counter::access_denied);
    refuse(handle, Errc::access_denied, destinations_[handle].denied);
    if (flows_) tell_admitted(handle, protocol::flow_bytes(incoming_->message.total));
    forget_incoming();
    return std::nullopt;
  }
  if (sender_.has_synchronous_groups && !flows_ && refuse_synchronous(now, handle, incoming_->message)) {
    forget_incoming();
    return std::nullopt;
  }
  bundle_followers(input);
  ClientSend& message = incoming_->message;
  message.chunks = chunks_;
  message.bundle = bundle_;
  if (flows_) {
    std::optional<Error> error = flows_->send(now, handle, destinations_[handle].flow->number, message);
    forget_incoming();
    return error;
  }
  verdict = try_admit(now, handle, message);
  if (!verdict.is_admitted()) return std::nullopt;
  enter(now, handle, message);
  forget_incoming();
  return std::nullopt;
}

void Ingress::bundle_followers(InputBuffer& input) {
  IncomingMessage& incoming = *incoming_;
  std::size_t names_bytes = 0;  // looked up where somebody follows
  while (incoming.message.weight < kBundleWeightMax) {
    const ByteView unread = input.unread();
    const std::optional<spindle::FrameHead> head = spindle::read_frame_head(unread);
    if (!head || static_cast<protocol::ClientFrame>(head->type) != protocol::ClientFrame::send) return;
    // Most that are too heavy need not be read to see it.
    const std::size_t room = kBundleWeightMax - incoming.message.weight;
    if (head->length > room + kSendHeadMax || unread.size() < spindle::kFrameHeadBytes + head->length) return;
    // One that is malformed is left to whoever reads it next.
    const auto next = protocol::read_send(unread.subspan(spindle::kFrameHeadBytes, head->length));
    if (!next || next->handle != incoming.handle) return;
    ClientSend follower;
    if (names_bytes == 0) names_bytes = names_bytes_of(sender_, context_, destinations_[incoming.handle]);
    fill_in(follower, *next, names_bytes);
    if (!may_go_along(incoming.message, follower)) return;
    go_along(incoming.message, first_view(chunks_), bundle_, follower, next->chunk);
    chunks_.clear();
    incoming.received = incoming.message.total;
    input.skip(spindle::kFrameHeadBytes + head->length);
    ++taken_along_;
  }
}

Verdict Ingress::try_admit(Time now, std::uint32_t handle, const ClientSend& message) {
  DefinedSet& set = destinations_[handle];
  if (waits_for_requests(set.to.names)) return {0, AdmissionWait::requests, kNever};
  if (sender_.closed_groups != 0 && waits_for_view(set.to.names)) return {0, AdmissionWait::requests, kNever};
  // One of which a part has entered was within the rate.
  if (has_rate_ && set.flow->entering == 0) {
    if (const std::optional<Time> until = quota_.wait_until(now)) return {0, AdmissionWait::quota, *until};
  }
  if (is_large(message) && (set.flow->entering != 0 || admission_.divides(message.total))) {
    return try_admit_large(now, set, message);
  }
  return admission_.try_admit(now, set.flow->flow, set.to, {message.total});
}

Verdict Ingress::try_admit_large(Time now, DefinedSet& set, const ClientSend& message) {
  MessageSender& sender = groups_.sender();
  std::uint64_t& entering = set.flow->entering;
  for (;;) {
    const std::uint32_t rest = message.total - sender.sent_ahead(entering);
    const std::uint32_t part = sender.next_part(entering, message, admission_.entering_room());
    const Verdict verdict = admission_.try_admit(now, set.flow->flow, set.to, {rest, part});
    if (!verdict.is_admitted() || verdict.bytes == rest) return verdict;
    entering = sender.send_part(now, sender_, set.to, message, entering, verdict.bytes);
    ++parts_;
  }
}

void Ingress::enter(Time now, std::uint32_t handle, const ClientSend& message) {
  if (sender_.has_synchronous_groups && refuse_synchronous(now, handle, message)) return;
  messages_ += message.messages;
  DefinedSet& set = destinations_[handle];
  if (has_rate_) quota_.take(message.total + set.to.paid_bytes());
  if (const std::uint64_t entering = std::exchange(set.flow->entering, 0); entering != 0) {
    groups_.sender().send_rest(now, sender_, set.to, message, entering);
  } else {
    groups_.sender().send(now, sender_, set.to, message);
  }
}

void Ingress::tell_admitted(std::uint32_t handle, std::size_t bytes) {
  std::vector<std::uint8_t> frame;
  protocol::write_admitted(frame, {handle, static_cast<std::uint32_t>(bytes)});
  answers_.append_frame(frame);
}

}  // namespace spindled
