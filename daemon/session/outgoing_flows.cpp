#include "daemon/session/outgoing_flows.h"

#include <algorithm>
#include <utility>

#include "libclient/protocol/client_frames.h"

namespace spindled {

namespace protocol = spindle::protocol;

namespace {
/// What the messages count.
std::size_t flow_bytes(const ClientSend& sent) { return protocol::flow_bytes(sent.total, sent.messages); }
}  // namespace

std::optional<Error> OutgoingFlows::send(Time now, std::uint32_t handle, std::uint32_t flow,
                                         const ClientSend& message) {
  if (windows_.size() <= handle) windows_.resize(handle + 1);
  if (lines_.size() <= flow) lines_.resize(flow + 1);
  Window& window = windows_[handle];
  Line& line = lines_[flow];
  // The client knows of no more than it was told, so what it was not told counts, too.
  if (window.held_bytes + window.untold_bytes >= protocol::kFlowWindowBytes) {
    return Error{Errc::limit_exceeded,
                 fmt::format("the client has sent to destination set {} although its window of {} bytes was full",
                             handle, protocol::kFlowWindowBytes)};
  }
  if (line.messages.empty() && try_admit(now, line, handle, message)) {
    gate_.enter(now, handle, message);
    window.untold_bytes += flow_bytes(message);
    if (window.untold_bytes >= protocol::kFlowToldBytes) tell(handle);
    return std::nullopt;
  }
  if (line.messages.empty()) blocked_.push_back(flow);
  hold(line.messages, handle, message);
  retry_at_ = std::min(retry_at_, line.retry_at);
  return std::nullopt;
}

bool OutgoingFlows::try_admit(Time now, Line& line, std::uint32_t handle, const ClientSend& message) {
  const Verdict verdict = gate_.try_admit(now, handle, message);
  line.retry_at = verdict.retry_at;
  return verdict.is_admitted();
}

void OutgoingFlows::hold(Ring<HeldMessage>& messages, std::uint32_t handle, const ClientSend& message) {
  windows_[handle].held_bytes += flow_bytes(message);
  bytes_ += flow_bytes(message);
  if (!messages.empty() && messages.back().handle == handle && may_go_along(messages.back().message, message)) {
    HeldMessage& last = messages.back();
    heap_bytes_ -= heap_bytes_of(last);
    std::vector<std::uint8_t> payload;
    if (last.message.messages == 1) payload.swap(last.end);
    const ByteView content = message.messages == 1 ? first_view(message.chunks) : message.bundle;
    go_along(last.message, payload, last.end, message, content);
    heap_bytes_ += heap_bytes_of(last);
    return;
  }
  HeldMessage& held = messages.push_back();
  held.handle = handle;
  held.number = ++held_so_far_;
  held.message = message;
  held.message.chunks = {};
  held.message.bundle = {};
  held.chunks.assign(message.chunks.begin(), message.chunks.end());
  if (message.messages > 1) {
    held.end.assign(message.bundle.begin(), message.bundle.end());
  } else if (!held.chunks.empty() && held.chunks.back().size() < kReferencedBytesMin) {
    const ByteView last = held.chunks.back().view();
    held.end.assign(last.begin(), last.end());
    held.chunks.pop_back();
  }
  held.message.chunks = held.chunks;
  heap_bytes_ += heap_bytes_of(held);
}

bool OutgoingFlows::has_entered(std::uint64_t count) const {
  return std::all_of(blocked_.begin(), blocked_.end(), [&](std::uint32_t flow) {
    return lines_[flow].messages.empty() || lines_[flow].messages.front().number > count;
  });
}

void OutgoingFlows::release(Time now, bool all) {
  if (!all && retry_at_ > now) return;
  retry_at_ = kNever;
  std::vector<std::uint32_t> served;
  for (const std::uint32_t flow : std::exchange(blocked_, {})) {
    Line& line = lines_[flow];
    const bool any = (all || line.retry_at <= now) && release(now, line);
    if (line.messages.empty()) {
      line.messages.clear();  // gives back its memory: there may be thousands of lines
    } else {
      (any ? served : blocked_).push_back(flow);
      retry_at_ = std::min(retry_at_, line.retry_at);
    }
  }
  blocked_.insert(blocked_.end(), served.begin(), served.end());
}

bool OutgoingFlows::release(Time now, Line& line) {
  bool any = false, refused = false;
  while (!refused && !line.messages.empty()) {
    const std::uint32_t handle = line.messages.front().handle;
    any = release_run(now, line) || any;
    refused = !line.messages.empty() && line.messages.front().handle == handle;
  }
  return any;
}

bool OutgoingFlows::release_run(Time now, Line& line) {
  Ring<HeldMessage>& messages = line.messages;
  const std::uint32_t handle = messages.front().handle;
  Window& window = windows_[handle];
  bool any = false;
  while (!messages.empty() && messages.front().handle == handle) {
    if (!context_.turn.may_take_input()) {
      line.retry_at = now;
      break;
    }
    if (!try_admit(now, line, handle, messages.front().message)) break;
    const std::size_t bytes = flow_bytes(messages.front().message);
    heap_bytes_ -= heap_bytes_of(messages.front());
    let_in(now, messages.pop_front());
    window.held_bytes -= bytes;
    window.untold_bytes += bytes;
    bytes_ -= bytes;
    any = true;
  }
  // Somebody may wait for the rest, too small to be told otherwise.
  if (any && (window.held_bytes == 0 || window.untold_bytes >= protocol::kFlowToldBytes)) tell(handle);
  return any;
}

void OutgoingFlows::let_in(Time now, HeldMessage held) {
  if (held.message.messages > 1) {
    held.message.bundle = held.end;
  } else if (!held.end.empty()) {
    held.chunks.push_back(context_.arena.copy(held.end));
  }
  held.message.chunks = held.chunks;
  gate_.enter(now, held.handle, held.message);
}

void OutgoingFlows::tell(std::uint32_t handle) {
  gate_.tell_admitted(handle, std::exchange(windows_[handle].untold_bytes, 0));
}

}  // namespace spindled
