// What a layer does with the connections that are its.
#pragma once

#include <span>
#include <string_view>

#include "daemon/base/driver.h"
#include "daemon/base/peer.h"
#include "daemon/base/time.h"

namespace spindled {

/// The inputs of one port. `node/node.h` says what each call means; all come for connections of this port only.
class PortHandler {
 public:
  virtual ~PortHandler() = default;
  virtual void handle_accepted(Time now, ConnectionId connection, const Peer& peer) = 0;
  /// A dial of this one has succeeded.
  virtual void handle_connected(Time, ConnectionId, std::string_view /*identity*/) {}
  virtual std::span<std::uint8_t> read_space(ConnectionId connection) = 0;
  virtual void handle_read(Time now, ConnectionId connection, std::size_t bytes) = 0;
  virtual void handle_writable(Time now, ConnectionId connection) = 0;
  virtual void handle_closed(Time now, ConnectionId connection, std::string_view why) = 0;
};

}  // namespace spindled
