// What travels between daemons about bulk channels: operations, ordered with those of the groups.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "daemon/channel/channel.h"
#include "daemon/group/operations.h"

namespace spindled {

/// A client of the origin offers a content to a group.
struct ChannelOffered {
  BulkChannelId id;  // of the origin
  std::string group;
  SessionId session = 0;
  std::string client;
  ContentTerms terms;
};
/// By the source: the content is whole.
struct ChannelSealed {
  BulkChannelId id;
  std::uint64_t size = 0;
  ContentRoot root{};
};
/// Whether `next` counts behind `former`: what is final stays, but who is done may cease to give the content.
constexpr bool may_follow(BulkOutcome former, BulkOutcome next) {
  return former == BulkOutcome::done ? next == BulkOutcome::kept
                                     : !spindle::protocol::is_final(former) && former != next;
}
/// How receivers of the origin stand: what has come of them for a while.
struct ChannelProgress {
  struct Said {
    SessionId session = 0;
    BulkOutcome outcome = BulkOutcome::accepted;
    std::uint16_t code = 0;
  };
  struct OfChannel {
    BulkChannelId id;
    std::vector<Said> said;  // in rising order of sessions; at least one
  };
  std::vector<OfChannel> channels;  // in rising order of their ids; at least one
};
/// By the source.
struct ChannelCancelled {
  BulkChannelId id;
};
/// By the daemon that keeps its time.
struct ChannelEnded {
  BulkChannelId id;
  BulkEnd why = BulkEnd::over;
};
/// By the source: how much it is to send at most.
struct ChannelRateSet {
  BulkChannelId id;
  std::uint64_t bytes_per_second = 0;
};
/// The session of the origin, the source of channels, is over.
struct ChannelSourceGone {
  SessionId session = 0;
};
/// After a view change that brings sides together: what the daemons of one know. Sent by the smallest of them, where
/// they know any, in front of what it says of its group table; in one or several parts. A channel of more receivers
/// than fit into a part is in the next one, too, with those that follow.
struct ChannelsKnown {
  MemberSet side;                 // the daemons that it speaks for
  std::vector<Channel> channels;  // in rising order of their ids
  bool more = false;              // another part follows
};

/// In the order of their numbers, from kChannelOperationMin on.
using ChannelOperation = std::variant<ChannelOffered, ChannelSealed, ChannelProgress, ChannelCancelled, ChannelEnded,
                                      ChannelRateSet, ChannelSourceGone, ChannelsKnown>;
inline constexpr std::size_t kChannelOperations = std::variant_size_v<ChannelOperation>;

inline std::uint8_t number_of(const ChannelOperation& operation) {
  return static_cast<std::uint8_t>(kChannelOperationMin + operation.index());
}

/// What follows the number.
std::vector<std::uint8_t> write_channel_operation(const ChannelOperation& operation);
/// Nothing where the bytes are not exactly one valid operation of that number.
std::optional<ChannelOperation> read_channel_operation(std::uint8_t number, ByteView content);

}  // namespace spindled
