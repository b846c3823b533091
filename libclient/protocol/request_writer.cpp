#include "libclient/protocol/request_writer.h"

#include <algorithm>

namespace spindle::protocol {

namespace {

ByteView payload_bytes(const Payload& payload) {
  return {reinterpret_cast<const std::uint8_t*>(payload.bytes().data()), payload.size()};
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
  if (groups.size() == 0 || groups.size() > kGroupsPerMessageMax) return Errc::too_many_groups;
  return {};
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

void RequestWriter::start(const Hello& hello) { write_hello(output_, hello); }

void RequestWriter::close() {
  open_ = false;
  pending_.clear();
}

std::error_code RequestWriter::check(Service service, const Groups& groups, const Payload& payload) {
  if (const std::error_code error = check_sizes(service, groups, payload)) return error;
  return check_names(groups);
}

std::error_code RequestWriter::multicast(Service service, const Groups& groups, const Payload& payload,
                                         SendOptions options) {
  if (!open_) return Errc::not_connected;
  if (const std::error_code error = check_sizes(service, groups, payload)) return error;
  Send send;
  if (const std::error_code error = find_handle(groups, send.handle)) return error;
  ByteView rest = payload_bytes(payload);
  send.service = static_cast<std::uint8_t>(service);
  send.self_discard = options.self_discard;
  send.type = options.type;
  send.total = static_cast<std::uint32_t>(rest.size());
  send.chunk = rest.first(std::min(rest.size(), kChunkBytesMax));

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

std::error_code RequestWriter::find_handle(const Groups& groups, std::uint32_t& handle) {
  key_.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string_view name = groups[i];
    if (name.size() > kGroupNameBytesMax) return Errc::bad_group_name;
    key_.push_back(static_cast<char>(name.size()));
    key_.append(name);
  }
  if (const auto known = handles_.find(std::string_view(key_)); known != handles_.end()) {
    handle = known->second;
    return {};
  }
  if (const std::error_code error = check_names(groups)) return error;
  handle = define(groups);
  return {};
}

std::uint32_t RequestWriter::define(const Groups& groups) {
  std::uint32_t handle = 0;
  if (sets_.size() < kHandlesMax) {
    handle = static_cast<std::uint32_t>(sets_.size());
    sets_.push_back(nullptr);
  } else {
    handle = oldest_;
    oldest_ = (oldest_ + 1) % kHandlesMax;
    handles_.erase(handles_.find(std::string_view(*sets_[handle])));
  }
  sets_[handle] = &handles_.emplace(key_, handle).first->first;

  Define define;
  define.handle = handle;
  define.groups.reserve(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) define.groups.push_back(groups[i]);
  write_define(output_, define);
  return handle;
}

std::error_code RequestWriter::request(ClientFrame type, std::string_view group) {
  if (!open_) return Errc::not_connected;
  if (!is_group_name(group)) return Errc::bad_group_name;
  pending_.insert_or_assign(next_request_, Pending{kind_of(type), std::string(group)});
  write_group_request(output_, type, {next_request_, group});
  ++next_request_;
  return {};
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
                           std::error_code(reply.code, error_category())};
  }
  pending_.erase(pending);
  return failed;
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
