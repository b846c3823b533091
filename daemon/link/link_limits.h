// Every bound of the link layer.
#pragma once

#include <algorithm>
#include <cstddef>

#include "daemon/base/time.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/partition_order.h"

namespace spindled {

/// Links up at once; their ids are indices into a table.
inline constexpr std::size_t kLinksMax = 4096;
/// Accepted connections that are not links yet: strangers cannot hold more memory than this many small frames.
inline constexpr std::size_t kPendingAcceptedMax = 256;
/// What one link may have waiting. The layers above keep far below it; beyond it the link is closed.
inline constexpr std::size_t kLinkQueueBytesMax = 256u << 20;
/// What may wait for a neighbour at the priority of control, and its pings still be answered: that it is there it hears
/// by whatever it reads.
inline constexpr std::size_t kAnswersQueueBytesMax = 64u << 10;
/// What counts as one packet in the length of a queue, in bytes.
inline constexpr std::size_t kPacketBytes = 1400;
/// So many packets are that many bytes; none are one.
constexpr std::size_t packets_of(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + kPacketBytes - 1) / kPacketBytes);
}
/// Buffers of one gathered write.
inline constexpr std::size_t kGatherBuffersMax = 64;

/// How long a dial may take before it is given up.
inline constexpr Duration kDialTimeout = 5s;
/// So many liveness timeouts a link lasts at most whose connection is silent, while datagrams of the peer come.
inline constexpr int kStallTimeouts = 4;
/// So often in a liveness timeout a peer is asked by datagram whose connection has been silent for half of one, and how
/// long it is from one question to the next at least.
inline constexpr int kSilentQuestions = 15;
inline constexpr Duration kSilentQuestionsApart = 10ms;
/// How long a closed connection is kept to get its close frame out when the kernel takes nothing.
inline constexpr Duration kCloseLinger = 1s;
/// How long it takes at most until a neighbour across an imposed partition is tried again.
inline constexpr Duration kPartitionRedialMax = 500ms;

/// Longest content of a frame before a link is established.
inline constexpr std::size_t kHandshakeFrameBytesMax = 20u << 10;

static_assert(kCloseFrameBytesMax <= kHandshakeFrameBytesMax);
static_assert(kPartitionBytesMax + 1024 <= kHandshakeFrameBytesMax, "a hello carries the newest partition order");
static_assert(kLinkQueueBytesMax > 2 * kControlMessageBytesMax);

}  // namespace spindled
