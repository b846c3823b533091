// Every bound of the link layer.
#pragma once

#include <cstddef>

#include "daemon/base/time.h"
#include "daemon/wire/link_frames.h"
#include "daemon/wire/partition_order.h"

namespace spindled {

/// Links up at once; their ids are indices into a table.
inline constexpr std::size_t kLinksMax = 4096;
/// Accepted connections that are not links yet: strangers cannot hold more memory than this many small frames.
inline constexpr std::size_t kPendingAcceptedMax = 256;
/// What one link may have waiting. The layers above keep far below it; beyond it the link is closed.
inline constexpr std::size_t kLinkQueueBytesMax = 256u << 20;
/// What counts as one packet in the length of a queue, in bytes.
inline constexpr std::size_t kPacketBytes = 1400;
/// Buffers of one gathered write.
inline constexpr std::size_t kGatherBuffersMax = 64;

/// How long a dial may take before it is given up.
inline constexpr Duration kDialTimeout = 5s;
/// How long a closed connection is kept to get its close frame out when the kernel takes nothing.
inline constexpr Duration kCloseLinger = 1s;
/// How long it takes at most until a neighbour across an imposed partition is tried again.
inline constexpr Duration kPartitionRedialMax = 500ms;

// Longest contents of frames, without their head.
inline constexpr std::size_t kHandshakeFrameBytesMax = 20u << 10;
inline constexpr std::size_t kViewFrameBytesMax = 512;
inline constexpr std::size_t kRoutedFrameBytesMax = 512;  // report, stable, ready: a set and a few varints
inline constexpr std::size_t kPushFrameBytesMax = kDataFrameBytesMax + 1024;
inline constexpr std::size_t kPriceFrameBytesMax = 512;  // a name and a few numbers
inline constexpr std::size_t kPingFrameBytes = 8;
inline constexpr std::size_t kCloseFrameBytesMax = 2 + 1024;

static_assert(kControlFrameBytesMax <= spindle::kFrameLengthMax);
static_assert(kPushFrameBytesMax <= spindle::kFrameLengthMax);
static_assert(kRoutedFrameBytesMax >= 1 + kMembersMax / 8 + kReportBytesMax);
static_assert(kCloseFrameBytesMax <= kHandshakeFrameBytesMax);
static_assert(kPartitionBytesMax + 1024 <= kHandshakeFrameBytesMax, "a hello carries the newest partition order");
static_assert(kLinkQueueBytesMax > 2 * kControlMessageBytesMax);

/// The limit of an established link for a type of frame; 0 for a type that does not exist.
constexpr std::size_t frame_bytes_max(LinkFrame type) {
  switch (type) {
    case LinkFrame::control:
    case LinkFrame::control_part:
      return kControlFrameBytesMax;
    case LinkFrame::view:
      return kViewFrameBytesMax;
    case LinkFrame::data:
      return kDataFrameBytesMax;
    case LinkFrame::report:
    case LinkFrame::stable:
    case LinkFrame::ready:
      return kRoutedFrameBytesMax;
    case LinkFrame::push:
      return kPushFrameBytesMax;
    case LinkFrame::ping:
    case LinkFrame::pong:
      return kPingFrameBytes;
    case LinkFrame::close:
      return kCloseFrameBytesMax;
    case LinkFrame::price:
      return kPriceFrameBytesMax;
  }
  return 0;
}

}  // namespace spindled
