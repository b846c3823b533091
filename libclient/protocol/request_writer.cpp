#include "libclient/protocol/request_writer.h"

#include <algorithm>
#include <utility>

#include "libclient/protocol/header_block.h"
#include "libclient/protocol/send_head.h"

namespace spindle::protocol {

namespace {

ByteView view_of(const Bytes& bytes) { return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}; }

/// What of a payload is not written yet.
class Rest {
 public:
  explicit Rest(const Payload& payload) : pieces_(payload.pieces()), bytes_(payload.size()) {}

  std::size_t bytes() const { return bytes_; }
  /// Appends the next `bytes`, which are there, to `out`.
  void append(std::vector<std::uint8_t>& out, std::size_t bytes) {
    bytes_ -= bytes;
    while (bytes != 0) {
      const ByteView piece = view_of(pieces_.front()).subspan(begun_);
      const ByteView part = piece.first(std::min(piece.size(), bytes));
      out.insert(out.end(), part.begin(), part.end());
      bytes -= part.size();
      begun_ += part.size();
      if (part.size() < piece.size()) continue;
      pieces_ = pieces_.subspan(1);
      begun_ = 0;
    }
  }

 private:
  std::span<const Bytes> pieces_;
  std::size_t begun_ = 0;  // of the first piece
  std::size_t bytes_;
};

std::error_code check_count(const Groups& groups) {
  if (groups.size() == 0 || groups.size() > kGroupsPerMessageMax) return Errc::too_many_groups;
  return {};
}

std::error_code check_names(const Groups& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!is_destination_name(groups[i])) return Errc::bad_group_name;
  }
  return {};
}

// The part of the check that is made for every message; names are checked when a set of them is defined.
std::error_code check_sizes(Service service, const Groups& groups, const Payload& payload) {
  if (service > Service::safe) return Errc::bad_argument;
  if (payload.size() > kMessageBytesMax) return Errc::message_too_large;
  return check_count(groups);
}

/// The names that make_key() has packed; they refer to the key.
std::vector<std::string_view> names_in(std::string_view key) {
  std::vector<std::string_view> names;
  while (!key.empty()) {
    const std::size_t size = static_cast<unsigned char>(key.front());
    names.push_back(key.substr(1, size));
    key.remove_prefix(1 + size);
  }
  return names;
}

std::vector<std::string> unpack_key(std::string_view key) {
  const std::vector<std::string_view> names = names_in(key);
  return {names.begin(), names.end()};
}

/// Whether make_key() would make `key` of `groups`.
/// Inline: a call for each message would cost more than most of it.
[[gnu::always_inline]] inline bool is_key_of(const Groups& groups, std::string_view key) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string_view name = groups[i];
    if (key.empty() || static_cast<unsigned char>(key.front()) != name.size()) return false;
    if (key.substr(1, name.size()) != name) return false;
    key.remove_prefix(1 + name.size());
  }
  return key.empty();
}

std::vector<FlowReady> to_events(const std::vector<std::string>& keys) {
  std::vector<FlowReady> events;
  events.reserve(keys.size());
  for (const std::string& key : keys) events.push_back({unpack_key(key)});
  return events;
}

std::uint32_t handle_of(const OutgoingFrames::Unit& unit) {
  Reader reader(unit.body);
  return static_cast<std::uint32_t>(reader.varint());
}

/// A chunk of no more is written together with its head: to clear the room for it first costs less than another call.
constexpr std::size_t kShortBytes = 512;

/// The head of the first frame of a message, and its chunk where that is all in one piece.
void append_head(std::vector<std::uint8_t>& out, const Send& send, ByteView chunk) {
  const std::size_t start = out.size();
  const std::size_t together = chunk.size() <= kShortBytes ? chunk.size() : 0;
  out.resize(start + kSendHeadBytesMax + together);
  Writer writer(out.data() + start);
  put_send_head(writer, send, std::min<std::size_t>(send.total, kChunkBytesMax));
  // A copy of bounded length would be written out in place, which is slower.
  std::copy_n(chunk.begin(), together, writer.at());
  out.resize(start + writer.size() + together);
  if (together != chunk.size()) out.insert(out.end(), chunk.begin(), chunk.end());
}

/// The token of pings that ask for nothing else.
constexpr std::uint64_t kSignOfLife = 0;

/// Whether a `define` gives its handle a meaning.
bool has_names(ByteView frame) { return !read_define(frame.subspan(kFrameHeadBytes))->groups.empty(); }

RequestFailed::Request kind_of(ClientFrame type) {
  switch (type) {
    case ClientFrame::join:
      return RequestFailed::Request::join;
    case ClientFrame::leave:
      return RequestFailed::Request::leave;
    default:
      return RequestFailed::Request::view;
  }
}

}  // namespace

void RequestWriter::start(const Hello& hello) {
  independent_ = (hello.flags & kIndependentFlowsBit) != 0;
  std::vector<std::uint8_t> frame;
  write_hello(frame, hello);
  out_.begin(std::move(frame));
}

void RequestWriter::open() {
  open_ = !said_bye_;
  out_.open();
}

void RequestWriter::close() {
  open_ = false;
  pending_.clear();
  pending_flows_.clear();
  pending_confirms_.clear();
  pending_channels_.clear();
  pending_feeds_.clear();
  asked_.clear();
  flushed_.clear();
}

std::error_code RequestWriter::check(Service service, const Groups& groups, const Payload& payload,
                                     const SendOptions& options) {
  if (const std::error_code error = check_sizes(service, groups, payload)) return error;
  if (!are_valid(options.headers)) return Errc::bad_headers;
  return check_names(groups);
}

std::error_code RequestWriter::write_send(Service service, const Groups& groups, const Payload& payload,
                                          const SendOptions& options, bool has_headers) {
  if (!open_) return Errc::not_connected;
  if (const std::error_code error = check_sizes(service, groups, payload)) return error;
  if (!flushed_.empty() && is_flushed(groups)) return Errc::flushing;
  Send send;
  if (last_ < sets_.size() && is_key_of(groups, *sets_[last_])) {
    send.handle = last_;
  } else if (const std::error_code error = find_handle(groups, send.handle)) {
    return error;
  }
  last_ = send.handle;
  if (independent_) {
    if (!windows_.has_room(send.handle)) return Errc::would_block;
    windows_.sent(send.handle, flow_bytes(payload.size()));
  }
  send.service = static_cast<std::uint8_t>(service);
  send.self_discard = options.self_discard;
  send.has_headers = has_headers;
  send.type = options.type;
  send.total = static_cast<std::uint32_t>(payload.size());
  ++accepted_;
  if (returns_ && independent_) untaken_.sent(send.handle, flow_bytes(payload.size()), options.ticket);
  if (returns_ && !independent_) untaken_.sent(options.ticket);
  const bool is_one_piece = payload.pieces().size() == 1 && payload.size() <= kChunkBytesMax;  // as most are
  append_head(out_.bytes(), send, is_one_piece ? view_of(payload.pieces().front()) : ByteView());
  out_.note_frame(ClientFrame::send);
  if (!is_one_piece) append_chunks(payload);
  return {};
}

std::error_code RequestWriter::multicast(Service service, const Groups& groups, const Payload& payload,
                                         const SendOptions& options) {
  if (!options.headers.empty()) return multicast_with({}, service, groups, payload, options);
  return write_send(service, groups, payload, options, false);
}

std::error_code RequestWriter::multicast_with(const Header& own, Service service, const Groups& groups,
                                              const Payload& payload, const SendOptions& options) {
  if (!are_valid(options.headers)) return Errc::bad_headers;
  std::vector<std::uint8_t> block;
  write_header_block(block, own, options.headers);
  std::vector<Bytes> pieces{block};
  pieces.insert(pieces.end(), payload.pieces().begin(), payload.pieces().end());
  return write_send(service, groups, pieces, options, true);
}

// What follows the head of the first frame.
void RequestWriter::append_chunks(const Payload& payload) {
  Rest rest(payload);
  std::vector<std::uint8_t>& output = out_.bytes();
  rest.append(output, std::min(rest.bytes(), kChunkBytesMax));
  while (rest.bytes() != 0) {
    const std::size_t chunk = std::min(rest.bytes(), kChunkBytesMax);
    const std::size_t head = output.size();
    output.resize(head + kFrameHeadBytes);
    Writer head_writer(output.data() + head);
    write_frame_head(head_writer, static_cast<std::uint8_t>(ClientFrame::send_more), chunk);
    rest.append(output, chunk);
    out_.note_frame(ClientFrame::send_more);
  }
}

std::error_code RequestWriter::make_key(const Groups& groups) {
  key_.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string_view name = groups[i];
    if (name.size() > kGroupNameBytesMax) return Errc::bad_group_name;
    key_.push_back(static_cast<char>(name.size()));
    key_.append(name);
  }
  return {};
}

std::uint32_t RequestWriter::known_handle() const {
  const auto known = handles_.find(std::string_view(key_));
  return known == handles_.end() ? FlowWindows::kNoHandle : known->second;
}

std::error_code RequestWriter::find_handle(const Groups& groups, std::uint32_t& handle) {
  if (const std::error_code error = make_key(groups)) return error;
  handle = known_handle();
  if (handle != FlowWindows::kNoHandle) return {};
  if (const std::error_code error = check_names(groups)) return error;
  handle = define(groups);
  return {};
}

std::uint32_t RequestWriter::set_to_give_up() const {
  std::uint32_t oldest = FlowWindows::kNoHandle;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const auto handle = static_cast<std::uint32_t>((oldest_ + i) % sets_.size());
    if (sets_[handle] == nullptr) continue;
    // The daemon takes a new meaning only once it holds no message of the old one, and nothing else until then.
    if (!windows_.may_be_held(handle)) return handle;
    if (oldest == FlowWindows::kNoHandle) oldest = handle;
  }
  return oldest;
}

void RequestWriter::give_up(std::uint32_t handle) {
  const auto set = handles_.find(std::string_view(*sets_[handle]));
  defined_bytes_ -= defined_bytes(names_in(set->first));
  handles_.erase(set);
  sets_[handle] = nullptr;
  unused_.push_back(handle);
  oldest_ = static_cast<std::uint32_t>((handle + 1) % sets_.size());
  if (last_ == handle) last_ = FlowWindows::kNoHandle;
}

std::uint32_t RequestWriter::define(const Groups& groups) {
  Define define;
  define.groups.reserve(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) define.groups.push_back(groups[i]);
  const std::size_t bytes = defined_bytes(define.groups);

  while (defined_bytes_ + bytes > kDefinedBytesMax || handles_.size() == kHandlesMax) {
    give_up(set_to_give_up());
    // The last one gets its new meaning below.
    if (defined_bytes_ + bytes > kDefinedBytesMax) write_definition({unused_.back(), {}});
  }
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(sets_.size()));
    sets_.push_back(nullptr);
  }
  define.handle = unused_.back();
  unused_.pop_back();
  sets_[define.handle] = &handles_.emplace(key_, define.handle).first->first;
  defined_bytes_ += bytes;
  write_definition(define);
  return define.handle;
}

void RequestWriter::write_definition(const Define& define) {
  write_define(out_.bytes(), define);
  out_.note_frame(ClientFrame::define);
}

std::error_code RequestWriter::request(ClientFrame type, std::string_view group, std::uint8_t flags) {
  if (!open_) return Errc::not_connected;
  if (!is_group_name(group)) return Errc::bad_group_name;
  if (type == ClientFrame::join) groups_.insert_or_assign(std::string(group), Joined{flags, next_request_});
  if (type == ClientFrame::leave) {
    if (const auto found = groups_.find(group); found != groups_.end()) groups_.erase(found);
    ++leaving_[std::string(group)];
  }
  write_request(type, next_request_++, group, flags);
  return {};
}

void RequestWriter::write_request(ClientFrame type, std::uint32_t number, std::string_view group, std::uint8_t flags) {
  pending_.insert_or_assign(number, Pending{kind_of(type), std::string(group)});
  write_group_request(out_.bytes(), type, {number, group, flags});
  out_.note_frame(type);
}

std::uint32_t RequestWriter::pending_join(std::string_view group) const {
  const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const auto& request) {
    return request.second.request == RequestFailed::Request::join && request.second.group == group;
  });
  return found == pending_.end() ? 0 : found->first;
}

void RequestWriter::settle_farewell(std::string_view group) {
  const auto found = leaving_.find(group);
  if (found != leaving_.end() && --found->second == 0) leaving_.erase(found);
}

// Replies come in the order of requests: a join that has none yet was asked for behind what is over.
void RequestWriter::lose_group(std::string_view group) {
  const auto found = groups_.find(group);
  if (found != groups_.end() && !pending_.contains(found->second.request)) groups_.erase(found);
}

// Leaves before the join have had their last view. Where there is one behind it, a join that stands is behind that.
// A leave that has no reply yet gets one that says that there is no member.
void RequestWriter::settle_refused_join(std::string_view group) {
  const auto leaving = leaving_.find(group);
  if (leaving == leaving_.end()) return lose_group(group);
  const auto unanswered = std::count_if(pending_.begin(), pending_.end(), [&](const auto& request) {
    return request.second.request == RequestFailed::Request::leave && request.second.group == group;
  });
  if (leaving->second > unanswered) settle_farewell(group);
}

std::error_code RequestWriter::flush_ok(const FlushRequest& request) {
  if (!open_) return Errc::not_connected;
  if (request.number == 0 || request.number > last_asked_) return Errc::bad_argument;
  if (!awaits_flush(request)) return {};
  const auto asked = asked_.find(request.group);
  write_flush(out_.bytes(), ClientFrame::flush_ok, {asked->second.daemons_number, request.group});
  out_.note_frame(ClientFrame::flush_ok);
  flushed_.insert(request.group);
  asked_.erase(asked);
  return {};
}

bool RequestWriter::awaits_flush(const FlushRequest& request) const {
  const auto asked = asked_.find(request.group);
  return asked != asked_.end() && asked->second.number == request.number;
}

bool RequestWriter::is_flushed(const Groups& groups) const {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (flushed_.contains(groups[i])) return true;
  }
  return false;
}

void RequestWriter::settle_flush(const FlushRequest& request, std::uint64_t daemons_number) {
  asked_.erase(request.group);
  flushed_.erase(request.group);
  if (daemons_number == 0) return;
  asked_[request.group] = {request.number, daemons_number};
  last_asked_ = request.number;
}

std::error_code RequestWriter::request_flow(const Groups& groups) {
  if (!open_) return Errc::not_connected;
  if (const std::error_code error = check_count(groups)) return error;
  FlowRequest request;
  if (const std::error_code error = find_handle(groups, request.handle)) return error;
  request.request = next_request_++;
  pending_flows_.insert_or_assign(request.request, key_);
  write_flow_request_frame(request);
  return {};
}

void RequestWriter::write_flow_request_frame(const FlowRequest& request) {
  write_flow_request(out_.bytes(), request);
  out_.note_frame(ClientFrame::flow_request);
}

bool RequestWriter::has_room(const Groups& groups) {
  return !independent_ || make_key(groups) || windows_.has_room(known_handle());
}

void RequestWriter::want_ready(const Groups& groups) {
  if (independent_ && !make_key(groups)) windows_.want(known_handle(), key_);
}

std::vector<FlowReady> RequestWriter::take_ready() {
  std::vector<std::string> ready;
  windows_.take_all_ready(ready);
  return to_events(ready);
}

std::error_code RequestWriter::confirm() {
  if (!open_) return Errc::not_connected;
  pending_confirms_.emplace(next_request_, accepted_);
  write_confirm_frame(next_request_++);
  return {};
}

std::error_code RequestWriter::ask_channel(BulkRequest request, std::uint32_t& number) {
  if (!open_) return Errc::not_connected;
  number = next_request_++;
  set_number(request, number);
  write_bulk_request(out_.bytes(), request);
  out_.note_frame(type_of(request));
  pending_channels_.insert(number);
  return {};
}

template <typename Write>
void RequestWriter::write_feed_frame(ClientFrame type, Write&& write) {
  if (!out_.is_holding()) {
    write(out_.bytes());
    out_.note_frame(type);
    return;
  }
  std::vector<std::uint8_t> frame;
  write(frame);
  out_.append_ahead(frame);
}

std::error_code RequestWriter::open_feed(FeedOpen open, std::uint32_t& number) {
  if (!open_) return Errc::not_connected;
  open.request = number = next_request_++;
  pending_feeds_.insert(number);
  write_feed_frame(ClientFrame::feed_open, [&](std::vector<std::uint8_t>& out) { write_feed_open(out, open); });
  return {};
}

void RequestWriter::send_feed(FeedNumber feed, const Payload& payload) {
  if (!open_) return;
  write_feed_frame(ClientFrame::feed_send, [&](std::vector<std::uint8_t>& out) {
    write_feed_send_head(out, feed, payload.size());
    Rest(payload).append(out, payload.size());
  });
}

void RequestWriter::close_feed(FeedNumber feed) {
  if (!open_) return;
  write_feed_frame(ClientFrame::feed_close, [&](std::vector<std::uint8_t>& out) { write_feed_close(out, {feed}); });
}

std::error_code RequestWriter::listen(ClientFrame type, std::string_view group) {
  if (!open_) return Errc::not_connected;
  const GroupRequest request{next_request_++, group};
  pending_.emplace(request.request, Pending{RequestFailed::Request::listen, std::string(group)});
  write_feed_frame(type, [&](std::vector<std::uint8_t>& out) { write_listen(out, type, request); });
  return {};
}

std::error_code RequestWriter::ping(std::uint64_t token) {
  if (!open_) return Errc::not_connected;
  if (returns_) pings_.push_back(token);
  write_ping_frame(token);
  return {};
}

void RequestWriter::write_ping_frame(std::uint64_t token) {
  write_ping(out_.bytes(), ClientFrame::ping, token);
  out_.note_frame(ClientFrame::ping);
}

void RequestWriter::settle_pong(std::uint64_t token) {
  if (token == kSignOfLife) return;
  while (!pings_.empty() && pings_.front() != token) pings_.pop_front();
  if (!pings_.empty()) pings_.pop_front();
}

void RequestWriter::bye() {
  if (!open_) return;
  write_bye_frame();
  open_ = false;
  said_bye_ = true;
}

void RequestWriter::write_bye_frame() {
  write_bye(out_.bytes());
  out_.note_frame(ClientFrame::bye);
}

std::optional<RequestFailed> RequestWriter::settle(const Reply& reply, bool& unknown) {
  const auto pending = pending_.find(reply.request);
  unknown = pending == pending_.end();
  if (unknown) return std::nullopt;
  Pending request = std::move(pending->second);
  pending_.erase(pending);
  if (reply.code == 0) return std::nullopt;
  const bool is_in = reply.code == static_cast<std::uint16_t>(Errc::already_a_member);
  if (request.request == RequestFailed::Request::join && !is_in) lose_group(request.group);
  if (request.request == RequestFailed::Request::leave) settle_farewell(request.group);
  return RequestFailed{request.request, std::move(request.group), std::error_code(reply.code, error_category()), 0};
}

void RequestWriter::settle(std::uint32_t request, FlowState& state, bool& unknown) {
  const auto pending = pending_flows_.find(request);
  unknown = pending == pending_flows_.end();
  if (unknown) return;
  state.groups = unpack_key(pending->second);
  pending_flows_.erase(pending);
}

std::vector<FlowReady> RequestWriter::settle(const Admitted& admitted, bool& unknown) {
  unknown = !windows_.admitted(admitted);
  if (returns_ && !unknown) untaken_.admitted(admitted.handle, admitted.bytes);
  std::vector<std::string> ready;
  if (!unknown) windows_.take_ready(admitted.handle, ready);
  return to_events(ready);
}

void RequestWriter::write_confirm_frame(std::uint32_t number) {
  write_confirm(out_.bytes(), number);
  out_.note_frame(ClientFrame::confirm);
}

bool RequestWriter::settle(const Confirmed& confirmed) {
  const auto pending = pending_confirms_.find(confirmed.request);
  if (pending == pending_confirms_.end() || former_ + confirmed.taken < pending->second) return false;
  const std::uint64_t accepted = pending->second;
  pending_confirms_.erase(pending);
  if (former_ + confirmed.taken >= taken_ && !settle_taken(confirmed.taken, false)) return false;
  // Only now: counted are those that are still in line.
  if (returns_) untaken_.entered(accepted);
  return true;
}

NotTaken RequestWriter::not_taken_of(std::uint64_t accepted) const {
  if (independent_) return {std::min(accepted, accepted_ - taken_), accepted_ == taken_};
  return {accepted - std::min(accepted, taken_), taken_for_good_ || accepted <= taken_};
}

bool RequestWriter::settle_taken(std::uint64_t messages, bool for_good) {
  messages += former_;
  if (messages > accepted_ || messages < taken_) return false;
  if (returns_ && !independent_) untaken_.taken(messages - taken_);
  taken_ = messages;
  taken_for_good_ = for_good;
  return true;
}

// --- A client that may come back ---

void RequestWriter::expect_return() {
  returns_ = true;
  out_.expect_anew();
}

void RequestWriter::tell_received(std::uint64_t frames) {
  std::vector<std::uint8_t> frame;
  write_received(frame, ClientFrame::received, frames);
  out_.append_ahead(frame);
}

void RequestWriter::show_life() {
  std::vector<std::uint8_t> frame;
  write_ping(frame, ClientFrame::ping, kSignOfLife);
  out_.append_ahead(frame);
}

bool RequestWriter::resume(std::uint64_t frames) {
  if (!out_.resume(frames)) return false;
  open();
  return true;
}

std::vector<std::uint64_t> RequestWriter::start_anew(bool hold) {
  std::map<std::uint32_t, std::vector<std::uint8_t>> definitions;  // frames
  std::vector<std::vector<std::uint8_t>> unsent;
  std::vector<std::uint32_t> unsent_messages;  // handles
  const auto written = [&](const OutgoingFrames::Unit& unit) {
    if (unit.type == ClientFrame::define) definitions[handle_of(unit)].assign(unit.bytes.begin(), unit.bytes.end());
  };
  out_.start_anew(written, [&](const OutgoingFrames::Unit& unit) {
    if (unit.type == ClientFrame::send) unsent_messages.push_back(independent_ ? handle_of(unit) : 0);
    if (unit.type != ClientFrame::send && unit.type != ClientFrame::define) return;
    unsent.emplace_back(unit.bytes.begin(), unit.bytes.end());
  });
  former_ = taken_ = accepted_ - unsent_messages.size();
  taken_for_good_ = false;
  asked_.clear();
  flushed_.clear();
  leaving_.clear();
  pending_channels_.clear();
  pending_feeds_.clear();
  if (parting_) pending_confirms_.erase(parting_->request);
  parting_.reset();
  join_again(hold);
  for (const auto& [handle, frame] : definitions) {
    if (has_names(frame)) out_.append(frame);
  }
  windows_.forget_sent();
  for (const std::vector<std::uint8_t>& frames : unsent) {
    out_.append(frames);
    if (independent_) count_in_window(frames);
  }
  std::vector<std::uint64_t> unknown = take_unknown(unsent_messages);
  ask_again();
  return unknown;
}

/// What the former session may have let in, or not, is not confirmed by this one.
std::vector<std::uint64_t> RequestWriter::take_unknown(std::span<const std::uint32_t> unsent) {
  ended_confirms_.clear();
  for (const auto& [number, accepted] : pending_confirms_) ended_confirms_[number] = untaken_.waiting_among(accepted);
  std::vector<std::uint64_t> unknown = untaken_.take_all_but(unsent);
  std::erase_if(ended_confirms_, [this](const auto& confirm) {
    return untaken_.waiting_among(pending_confirms_.at(confirm.first)) == confirm.second;
  });
  for (const auto& [number, messages] : ended_confirms_) pending_confirms_.erase(number);
  untold_unknown_ += unknown.size();
  return unknown;
}

std::optional<std::uint64_t> RequestWriter::ended_confirm(std::uint32_t request) const {
  const auto found = ended_confirms_.find(request);
  return found == ended_confirms_.end() ? std::nullopt : std::optional(found->second);
}

void RequestWriter::part() {
  // Behind a fence nothing was sent but joins.
  parting_ = {next_request_++, out_.is_holding() ? former_ : accepted_};
  pending_confirms_.emplace(parting_->request, parting_->accepted);
  std::vector<std::uint8_t> frame;
  write_confirm(frame, parting_->request);
  out_.append_ahead(frame);
  if (!out_.is_holding()) out_.hold();
}

void RequestWriter::end_session() {
  std::vector<std::uint8_t> frame;
  write_bye(frame);
  out_.append_ahead(frame);
}

void RequestWriter::join_again(bool hold) {
  std::erase_if(pending_, [](const auto& request) { return request.second.request != RequestFailed::Request::view; });
  for (auto& [group, joined] : groups_) {
    joined.request = next_request_++;
    write_request(ClientFrame::join, joined.request, group, joined.flags);
  }
  if (hold && !groups_.empty()) out_.hold();
}

/// What the former daemon has not answered.
void RequestWriter::ask_again() {
  for (const auto& [number, request] : std::exchange(pending_, {})) {
    if (request.request == RequestFailed::Request::view) {
      write_request(ClientFrame::view_request, number, request.group);
    } else {
      pending_.emplace(number, request);
    }
  }
  for (const auto& [number, key] : pending_flows_) {
    const std::vector<std::string_view> names = names_in(key);
    FlowRequest request{number, 0};
    if (!find_handle(Groups(names), request.handle)) write_flow_request_frame(request);
  }
  for (const auto& [number, accepted] : pending_confirms_) write_confirm_frame(number);
  for (const std::uint64_t token : pings_) write_ping_frame(token);
  if (said_bye_) write_bye_frame();
}

/// A message that is sent again is the first of its window.
void RequestWriter::count_in_window(ByteView frames) {
  const auto head = read_frame_head(frames);
  if (static_cast<ClientFrame>(head->type) != ClientFrame::send) return;
  const std::optional<Send> send = read_send(frames.subspan(kFrameHeadBytes, head->length));
  windows_.sent(send->handle, flow_bytes(send->total));
}

}  // namespace spindle::protocol
