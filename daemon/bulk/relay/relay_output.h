// What the relay of a channel has connections send.
#pragma once

#include <cstdint>

#include "daemon/base/driver.h"
#include "daemon/base/time.h"
#include "libclient/bulk/need.h"

namespace spindled {

/// Implemented by whoever owns the connections. No call may call back into the relay.
class RelayOutput {
 public:
  virtual ~RelayOutput() = default;
  /// There may be something to take for this connection: ChannelIndex::next, ChannelRelay::next.
  virtual void may_send(ConnectionId to) = 0;
  virtual void send_need(ConnectionId to, std::uint8_t stream, const spindle::bulk::Need& need) = 0;
  virtual void send_grant(ConnectionId to, std::uint8_t stream, std::uint64_t symbols) = 0;
  virtual void send_release(ConnectionId to, std::uint8_t stream) = 0;
  /// It is to give the index, from the first block on.
  virtual void ask_index(ConnectionId to) = 0;
  /// ChannelRelay::next_deadline has come nearer.
  virtual void wake_at(Time) {}
};

}  // namespace spindled
