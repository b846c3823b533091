// What local clients send, on its way into the order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/group/client_send.h"
#include "daemon/group/entering_messages.h"
#include "daemon/group/group_state.h"

namespace spindled {

/// A set of destinations as a client defined it, resolved against the group table; kept by the session and brought up
/// to date by MessageSender when the table has changed.
struct DestinationSet {
  SessionId session = 0;              // of the client
  std::vector<std::string> names;     // groups, and private names of clients
  std::uint64_t table_version = 0;    // 0: never resolved
  MemberSet daemons;                  // that the message has to reach
  std::vector<std::uint8_t> targets;  // encoded for the envelope
  bool has_views = false;             // of synchronous groups that the client is a member of: for the envelope, too
  bool is_fresh = false;              // a group has a view that daemons may not have come to (GroupTable::is_fresh)

  /// What the names count beside the payload of a message, which they go in front of: nothing, as heads do, where they
  /// are few.
  std::size_t paid_bytes() const { return targets.size() > kTargetBytesUnpaid ? targets.size() : 0; }
  static constexpr std::size_t kTargetBytesUnpaid = 256;
};

/// A local client as the sender of messages.
struct Sender {
  SessionId session = 0;
  std::string client;
  SenderOrder order;
  std::size_t open_requests = 0;  // to join and to leave, which are not done yet; MembershipRequests keeps the count
  std::size_t closed_groups = 0;  // that it may not send to before their next views; Flushes keeps the count
  bool has_synchronous_groups = false;  // or has had some
};

/// Of what `sender` sends, but for what its destinations say.
Envelope envelope_of(const Sender& sender, const ClientSend& message);

/// Resolves the groups of a message to daemons, puts its envelope before it, and hands it to the order layer. The
/// payload of a large message goes ahead of it in parts, as its sender pays for them (EnteringMessages).
///
/// A fifo message is delivered where it arrives, and the view that a synchronous group has here may not stand there
/// yet: until it is known to stand everywhere, fifo messages to the group take places in the order, which are behind
/// it.
class MessageSender {
 public:
  explicit MessageSender(GroupState& state) : state_(state) {}

  /// Brings `set` up to date with the group table; empty where messages may not be sent.
  void resolve(DestinationSet& set) const {
    if (!state_.is_complete || !state_.is_current() || set.table_version != state_.table.version()) resolve_anew(set);
  }
  /// Where `GroupState::is_ready`.
  void send(Time now, Sender& sender, DestinationSet& to, const ClientSend& message);

  // A message that may be large. `entering` is what it is known by, 0 at first.

  /// The next bytes of its payload that can go ahead of it, up to the end of a chunk; 0: the rest has to go with the
  /// message. One begins only where all that are entering have no more than `room` bytes with it.
  std::uint32_t next_part(std::uint64_t entering, const ClientSend& message, std::size_t room) const;
  /// What has gone ahead of it.
  std::uint32_t sent_ahead(std::uint64_t entering) const {
    const EnteringMessages::Entering* found = entering == 0 ? nullptr : entering_.find(entering);
    return found == nullptr ? 0 : found->ahead;
  }
  /// Sends that much of it ahead, at most `next_part`; where `GroupState::is_ready`. What it is known by from then on.
  std::uint64_t send_part(Time now, const Sender& sender, DestinationSet& to, const ClientSend& message,
                          std::uint64_t entering, std::size_t bytes);
  /// As `send`: the message, with what has not gone ahead.
  void send_rest(Time now, Sender& sender, DestinationSet& to, const ClientSend& message, std::uint64_t entering);
  /// The message never comes.
  void give_up_message(Time now, std::uint64_t entering);
  /// Nor do the session's messages that are entering.
  void give_up(Time now, SessionId session);

  /// A new view: what went ahead in the last one is void.
  void restart() { entering_.clear(); }

 private:
  void resolve_anew(DestinationSet& set) const;
  /// Completes the envelope, and hands the message on.
  void originate(Time now, Sender& sender, const ClientSend& message, Envelope& envelope, const DestinationSet& to,
                 const MemberSet& daemons);
  void void_parts(Time now, std::uint64_t number, const MemberSet& daemons);
  void originate_part(Time now, const MemberSet& daemons, ByteView head, std::span<const Slice> payload);

  GroupState& state_;
  EnteringMessages entering_;
  std::vector<std::uint8_t> encoded_;  // scratch space of one message, kept to save allocations
};

}  // namespace spindled
