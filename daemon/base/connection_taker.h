// How a connection goes from the layer that has accepted it to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/base/driver.h"
#include "daemon/base/input_buffer.h"
#include "daemon/base/peer.h"
#include "daemon/base/time.h"
#include "libclient/common/framing.h"

namespace spindled {

/// Takes connections whose first frame is of another protocol than that of the port that they came to.
class ConnectionTaker {
 public:
  virtual ~ConnectionTaker() = default;
  /// What becomes of a connection to that port of which `unread` has come. Until its first frame is whole one that is
  /// for this one stays the former owner's all the same: it counts as one that is in its handshake, and has no longer
  /// than that.
  enum class Claim : std::uint8_t { none, later, now };
  Claim claim_on(Port port, ByteView unread) const {
    const std::optional<spindle::FrameHead> head = spindle::read_frame_head(unread);
    if (!head || !takes(port, *head)) return Claim::none;
    return unread.size() < spindle::kFrameHeadBytes + head->length ? Claim::later : Claim::now;
  }
  /// Whether a connection to that port that begins with a frame of that head is for this one.
  virtual bool takes(Port port, const spindle::FrameHead& first_frame) const = 0;
  /// The connection is no longer the former owner's, which calls nothing about it any more. `unread` begins with that
  /// frame, the whole of it.
  virtual void take_over(Time now, ConnectionId connection, Port port, const Peer& peer, InputBuffer unread) = 0;
};

/// Decides whom the driver's inputs of a connection go to.
class ConnectionBroker {
 public:
  virtual ~ConnectionBroker() = default;
  /// Driver::dial, for whoever handles that port.
  virtual ConnectionId dial_for(Port port, std::string_view address) = 0;
  /// The connection is of whoever handles that port from now on.
  virtual void hand_to(ConnectionId connection, Port port) = 0;
};

}  // namespace spindled
