#include "libclient/protocol/request_writer.h"

#include <algorithm>

namespace spindle::protocol {

namespace {

ByteView payload_bytes(const Payload& payload) {
  return {reinterpret_cast<const std::uint8_t*>(payload.bytes().data()), payload.size()};
}

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
bool is_key_of(const Groups& groups, std::string_view key) {
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
  write_hello(output_, hello);
}

void RequestWriter::close() {
  open_ = false;
  pending_.clear();
  pending_flows_.clear();
  asked_.clear();
  flushed_.clear();
}

std::error_code RequestWriter::check(Service service, const Groups& groups, const Payload& payload) {
  if (const std::error_code error = check_sizes(service, groups, payload)) return error;
  return check_names(groups);
}

std::error_code RequestWriter::multicast(Service service, const Groups& groups, const Payload& payload,
                                         SendOptions options) {
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
  ByteView rest = payload_bytes(payload);
  send.service = static_cast<std::uint8_t>(service);
  send.self_discard = options.self_discard;
  send.type = options.type;
  send.total = static_cast<std::uint32_t>(rest.size());
  send.chunk = rest.first(std::min(rest.size(), kChunkBytesMax));

  ++accepted_;
  const std::size_t start = output_.size();
  output_.resize(start + send_head_size(send));
  Writer writer(output_.data() + start);
  write_send_head(writer, send);
  append_chunk(send.chunk);
  rest = rest.subspan(send.chunk.size());
  while (!rest.empty()) {
    const ByteView chunk = rest.first(std::min(rest.size(), kChunkBytesMax));
    std::uint8_t head[kFrameHeadBytes];
    Writer head_writer(head);
    write_frame_head(head_writer, static_cast<std::uint8_t>(ClientFrame::send_more), chunk.size());
    append_chunk(head);
    append_chunk(chunk);
    rest = rest.subspan(chunk.size());
  }
  return {};
}

void RequestWriter::append_chunk(ByteView chunk) { output_.insert(output_.end(), chunk.begin(), chunk.end()); }

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
    if (defined_bytes_ + bytes > kDefinedBytesMax) write_define(output_, {unused_.back(), {}});
  }
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(sets_.size()));
    sets_.push_back(nullptr);
  }
  define.handle = unused_.back();
  unused_.pop_back();
  sets_[define.handle] = &handles_.emplace(key_, define.handle).first->first;
  defined_bytes_ += bytes;
  write_define(output_, define);
  return define.handle;
}

std::error_code RequestWriter::request(ClientFrame type, std::string_view group, std::uint8_t flags) {
  if (!open_) return Errc::not_connected;
  if (!is_group_name(group)) return Errc::bad_group_name;
  pending_.insert_or_assign(next_request_, Pending{kind_of(type), std::string(group)});
  write_group_request(output_, type, {next_request_, group, flags});
  ++next_request_;
  return {};
}

std::error_code RequestWriter::flush_ok(std::string_view group) {
  if (!open_) return Errc::not_connected;
  const auto asked = asked_.find(group);
  if (asked == asked_.end()) return Errc::bad_argument;
  write_flush(output_, ClientFrame::flush_ok, {asked->second, group});
  flushed_.insert(asked->first);
  asked_.erase(asked);
  return {};
}

bool RequestWriter::is_flushed(const Groups& groups) const {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (flushed_.contains(groups[i])) return true;
  }
  return false;
}

void RequestWriter::settle_flush(const std::string& group, std::uint64_t request) {
  asked_.erase(group);
  flushed_.erase(group);
  if (request != 0) asked_[group] = request;
}

std::error_code RequestWriter::request_flow(const Groups& groups) {
  if (!open_) return Errc::not_connected;
  if (const std::error_code error = check_count(groups)) return error;
  FlowRequest request;
  if (const std::error_code error = find_handle(groups, request.handle)) return error;
  request.request = next_request_++;
  pending_flows_.insert_or_assign(request.request, key_);
  write_flow_request(output_, request);
  return {};
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

std::error_code RequestWriter::ping(std::uint64_t token) {
  if (!open_) return Errc::not_connected;
  write_ping(output_, ClientFrame::ping, token);
  return {};
}

void RequestWriter::bye() {
  if (!open_) return;
  write_bye(output_);
  open_ = false;
  said_bye_ = true;
}

std::optional<RequestFailed> RequestWriter::settle(const Reply& reply, bool& unknown) {
  const auto pending = pending_.find(reply.request);
  unknown = pending == pending_.end();
  if (unknown) return std::nullopt;
  std::optional<RequestFailed> failed;
  if (reply.code != 0) {
    failed = RequestFailed{pending->second.request, std::move(pending->second.group),
                           std::error_code(reply.code, error_category()), 0};
  }
  pending_.erase(pending);
  return failed;
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
  std::vector<std::string> ready;
  if (!unknown) windows_.take_ready(admitted.handle, ready);
  return to_events(ready);
}

bool RequestWriter::settle_taken(std::uint64_t messages, bool for_good) {
  if (messages > accepted_ || messages < taken_) return false;
  taken_ = messages;
  taken_for_good_ = for_good;
  return true;
}

void RequestWriter::consume(std::size_t bytes) {
  consumed_ += bytes;
  if (consumed_ == output_.size()) {
    output_.clear();
    consumed_ = 0;
  }
}

void RequestWriter::take_output(std::vector<std::uint8_t>& into) {
  if (consumed_ != 0) {
    output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(consumed_));
    consumed_ = 0;
  }
  output_.swap(into);
}

}  // namespace spindle::protocol
