// Who beside a connection follows its bulk channels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "libclient/protocol/bulk_requests.h"
#include "spindle/event.h"

namespace spindle {

/// Called with the lock of the connection, in the order in which things stand in the session: what follows from a call
/// is for another thread to do.
class ChannelListener {
 public:
  virtual ~ChannelListener() = default;

  /// What the program is to be given in its place, if anything.
  virtual std::optional<Event> channel_news(protocol::BulkNews news) = 0;
  /// The client is a member of the group no more, and hears nothing more of its channels: what the program is to be
  /// given.
  virtual std::vector<Event> channels_left(std::string_view group) = 0;
  /// What was asked under that number is on its way; with an error it is refused.
  virtual void channel_answered(std::uint32_t request, std::error_code error) = 0;
  /// There is a new session: what was asked in the former one is not answered any more.
  virtual void session_began_anew() = 0;
  /// Disconnected is the last event.
  virtual void session_ended(std::error_code error) = 0;
};

}  // namespace spindle
