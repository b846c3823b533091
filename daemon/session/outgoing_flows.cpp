#include "daemon/session/outgoing_flows.h"

#include <algorithm>
#include <utility>

#include "libclient/protocol/client_frames.h"

namespace spindled {

namespace protocol = spindle::protocol;
using protocol::flow_bytes;

std::optional<Error> OutgoingFlows::send(Time now, std::uint32_t handle, const ClientSend& message) {
  if (lines_.size() <= handle) lines_.resize(handle + 1);
  Line& line = lines_[handle];
  // The client knows of no more than it was told, so what it was not told counts, too.
  if (line.held_bytes + line.untold_bytes >= protocol::kFlowWindowBytes) {
    return Error{Errc::limit_exceeded,
                 fmt::format("the client has sent to destination set {} although its window of {} bytes was full",
                             handle, protocol::kFlowWindowBytes)};
  }
  if (line.held.empty() && gate_.may_enter(now, handle, message.total)) {
    gate_.enter(now, handle, message);
    line.untold_bytes += flow_bytes(message.total);
    if (line.untold_bytes >= protocol::kFlowToldBytes) tell(handle, line);
    return std::nullopt;
  }
  if (line.held.empty()) blocked_.push_back(handle);
  hold(line, message);
  retry_at_ = std::min(retry_at_, gate_.retry_at(handle));
  return std::nullopt;
}

void OutgoingFlows::hold(Line& line, const ClientSend& message) {
  HeldMessage held;
  held.message = message;
  held.message.chunks = {};
  held.chunks.assign(message.chunks.begin(), message.chunks.end());
  if (!held.chunks.empty() && held.chunks.back().size() < kReferencedBytesMin) {
    const ByteView last = held.chunks.back().view();
    held.end.assign(last.begin(), last.end());
    held.chunks.pop_back();
  }
  line.held.push_back(std::move(held));
  line.held_bytes += flow_bytes(message.total);
  bytes_ += flow_bytes(message.total);
}

void OutgoingFlows::release(Time now, bool all) {
  if (!all && retry_at_ > now) return;
  retry_at_ = kNever;
  std::vector<std::uint32_t> served;
  for (const std::uint32_t handle : std::exchange(blocked_, {})) {
    Line& line = lines_[handle];
    const bool any = (all || gate_.retry_at(handle) <= now) && release(now, handle, line);
    if (line.held.empty()) {
      line.held.clear();  // gives back its memory: there may be thousands of lines
    } else {
      (any ? served : blocked_).push_back(handle);
      retry_at_ = std::min(retry_at_, gate_.retry_at(handle));
    }
  }
  blocked_.insert(blocked_.end(), served.begin(), served.end());
}

bool OutgoingFlows::release(Time now, std::uint32_t handle, Line& line) {
  bool any = false;
  while (!line.held.empty() && gate_.may_enter(now, handle, line.held.front().message.total)) {
    const std::size_t bytes = flow_bytes(line.held.front().message.total);
    let_in(now, handle, line.held.pop_front());
    line.held_bytes -= bytes;
    line.untold_bytes += bytes;
    bytes_ -= bytes;
    any = true;
  }
  // Somebody may wait for the rest, too small to be told otherwise.
  if (any && (line.held.empty() || line.untold_bytes >= protocol::kFlowToldBytes)) tell(handle, line);
  return any;
}

void OutgoingFlows::let_in(Time now, std::uint32_t handle, HeldMessage held) {
  if (!held.end.empty()) held.chunks.push_back(context_.arena.copy(held.end));
  held.message.chunks = held.chunks;
  gate_.enter(now, handle, held.message);
}

void OutgoingFlows::tell(std::uint32_t handle, Line& line) {
  gate_.tell_admitted(handle, std::exchange(line.untold_bytes, 0));
}

}  // namespace spindled
