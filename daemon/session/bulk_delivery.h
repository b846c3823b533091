// What bulk channels have for local clients, on its way into their queues.
#pragma once

#include "daemon/channel/channel_clients.h"
#include "daemon/session/session_table.h"

namespace spindled {

class BulkDelivery final : public ChannelClients {
 public:
  explicit BulkDelivery(SessionTable& sessions) : sessions_(sessions) {}

  std::optional<bool> wants_channels(SessionId session) const override;
  void deliver_channel_frames(std::span<const SessionId> to, ByteView frames) override;
  void refuse_channel_request(SessionId session, std::uint32_t request, Errc why) override;

 private:
  /// Null where it is gone, or gets nothing any more.
  Session* find_open(SessionId id) const;

  SessionTable& sessions_;
};

}  // namespace spindled
