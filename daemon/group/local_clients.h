// What the group layer hands up to the sessions of local clients.
#pragma once

#include <optional>
#include <span>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/group/bundle.h"
#include "daemon/group/operations.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

/// Where a message stands in the order, as its receivers are told.
struct OrderedAt {
  const ViewId* view = nullptr;  // null where it stands nowhere
  std::uint64_t changes = 0;     // of the group table, before the message
  std::uint64_t position = 0;
};

/// A message on its way to local clients. Everything in it is valid during the call only.
struct ClientMessage {
  Service service = Service::reliable;
  std::uint16_t type = 0;
  std::span<const std::string_view> groups;
  ByteView names;                 // the sender and the groups, packed (protocol::pack_names)
  std::uint32_t total = 0;        // bytes of payload
  std::span<const Slice> chunks;  // the payload; each at most kChunkBytesMax
  OrderedAt at{};
  bool has_headers = false;  // the payload begins with them
};

/// Several messages that came as one. Everything in it is valid during the call only.
struct ClientBundle {
  Service service = Service::reliable;
  std::span<const std::string_view> groups;
  ByteView names;  // as in ClientMessage
  std::span<const BundledMessage> messages;
  OrderedAt at{};
  bool has_headers = false;  // each payload begins with them
};

/// Implemented by the sessions. Session ids that are gone are ignored. Messages go to one session at least.
class LocalClients {
 public:
  virtual ~LocalClients() = default;
  virtual void deliver_message(std::span<const SessionId> to, const ClientMessage& message) = 0;
  virtual void deliver_bundle(std::span<const SessionId> to, const ClientBundle& bundle) = 0;
  virtual void deliver_view(std::span<const SessionId> to, const spindle::protocol::GroupViewFrame& view) = 0;
  virtual void deliver_transitional(std::span<const SessionId> to, std::string_view group) = 0;
  /// The members are to stop sending to the group, and to say so: Flushes::answer.
  virtual void deliver_flush_request(std::span<const SessionId> to, const spindle::protocol::Flush& request) = 0;
  /// The session's request to join the group was on its way, and is refused.
  virtual void refuse_join(SessionId session, std::string_view group, Errc why) = 0;
  /// Of the session's requests to join and to leave, some are done, or a group is open to it again: what waited for
  /// that may go on.
  virtual void requests_done(Time now, SessionId session) = 0;
  /// The session of the client with that name, if it is here.
  virtual std::optional<SessionId> find_client(std::string_view name) const = 0;
};

}  // namespace spindled
