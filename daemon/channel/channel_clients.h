// What bulk channels tell local clients.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "daemon/base/result.h"
#include "daemon/base/slab.h"
#include "daemon/group/operations.h"

namespace spindled {

/// Implemented by the sessions. Session ids that are gone are ignored.
class ChannelClients {
 public:
  virtual ~ChannelClients() = default;
  /// Whether the client wants to hear of channels; nothing: it is gone, or about to leave.
  virtual std::optional<bool> wants_channels(SessionId session) const = 0;
  /// Whole frames, for all of these.
  virtual void deliver_channel_frames(std::span<const SessionId> to, ByteView frames) = 0;
  /// The request of that number was on its way, and is refused.
  virtual void refuse_channel_request(SessionId session, std::uint32_t request, Errc why) = 0;
};

}  // namespace spindled
