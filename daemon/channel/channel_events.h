// What the agreed part of bulk channels tells who relays their content.
#pragma once

#include "daemon/base/time.h"
#include "daemon/channel/channel.h"

namespace spindled {

/// Each call comes at a place of the order, or at the beginning of a view, behind what local clients are told. Channels
/// are valid during the call; `Channels::table` has them until they have ended. Indices of daemons are of the view of
/// the group layer (Groups::view): with a new view `receivers_changed` comes for every channel.
class ChannelEvents {
 public:
  virtual ~ChannelEvents() = default;

  virtual void channel_offered(Time now, const Channel& channel) = 0;
  /// Receivers have accepted, are done, have failed, or are gone; or what their daemons are called has changed.
  virtual void receivers_changed(Time now, const Channel& channel) = 0;
  /// A local client that is not its source has left the group.
  virtual void client_left(Time now, const Channel& channel, SessionId session) = 0;
  virtual void channel_sealed(Time now, const Channel& channel) = 0;
  /// The rate at which the source may send, or whether it is there.
  virtual void source_changed(Time now, const Channel& channel) = 0;
  virtual void channel_ended(Time now, const BulkChannelId& id) = 0;
  /// A local client is gone.
  virtual void session_closed(Time now, SessionId session) = 0;
};

/// Of who does not care.
class NoChannelEvents final : public ChannelEvents {
 public:
  void channel_offered(Time, const Channel&) override {}
  void receivers_changed(Time, const Channel&) override {}
  void client_left(Time, const Channel&, SessionId) override {}
  void channel_sealed(Time, const Channel&) override {}
  void source_changed(Time, const Channel&) override {}
  void channel_ended(Time, const BulkChannelId&) override {}
  void session_closed(Time, SessionId) override {}
};

}  // namespace spindled
