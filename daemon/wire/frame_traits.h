// The types of frames between daemons, and what each of them is. A new type is entered here; docs/hacking.md says what
// else it needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "daemon/base/counters.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// By its number on the wire.
enum class LinkFrame : std::uint8_t {
  control = 1,          // a ControlMessage
  view = 2,             // what follows on this link was sent in this view
  data = 3,             // destinations still to be reached, then a body
  acknowledgement = 4,  // a destination tells an origin what it has received
  stable = 5,           // an origin tells destinations what everybody has received
  ready = 6,            // a daemon tells the sequencer up to where it could deliver
  push = 7,             // recovery: a body of the old view, on the routes of the new one
  ping = 8,
  pong = 9,
  close = 10,         // the last frame: why this side closes the link
  price = 11,         // what a congested link, or clients that do not keep up, cost now
  control_part = 12,  // of a ControlMessage that no control frame holds: a byte, 1 in the last part, then bytes of it
  bulk_token = 13,    // by which the neighbour may open a hop for bulk content, or has opened one (daemon/bulk/hops.h)
  bulk_plan = 14,     // who relays a bulk channel to whom (daemon/bulk/tree_plan.h)
  datagram = 15,      // the frames of a datagram that cannot go as one (datagram_envelope.h)
  bulk_invitation = 16,  // by which a daemon without a link may open a hop, or asks for that (bulk/hop_invitation.h)
};

/// In which queue of a link a frame waits: those of an earlier one are written first.
enum class FramePriority : std::uint8_t { control, data, count_ };
inline constexpr std::size_t kFramePriorities = static_cast<std::size_t>(FramePriority::count_);

/// How far a frame goes.
enum class FrameReach : std::uint8_t {
  link,       // to the other end of the connection: the link layer keeps it to itself
  neighbour,  // to the daemon there: the overlay hands it to whoever handles its type
  view,  // to members of the installed view, which stand in front of its content: the overlay relays it to them, and
         // hands it to whoever handles its type there
};

struct FrameTraits {
  LinkFrame type{};
  std::string_view name;
  std::size_t bytes_max = 0;  // its longest content, the head left out
  FramePriority priority{};
  FrameReach reach{};
  bool is_packets = false;            // counts as packets in the length of the queue, which makes the price of the link
  std::optional<Counter> bytes = {};  // under which the bytes sent are counted, if whoever sends it does not do that
};

// Longest contents of frames, without their head.
inline constexpr std::size_t kViewFrameBytesMax = 512;
inline constexpr std::size_t kRoutedFrameBytesMax = 512;  // acknowledgement, stable, ready: a set and a few varints
inline constexpr std::size_t kPushFrameBytesMax = kDataFrameBytesMax + 1024;
inline constexpr std::size_t kPriceFrameBytesMax = 512;  // a name and a few numbers
inline constexpr std::size_t kBulkTokenFrameBytes = 16;
inline constexpr std::size_t kBulkPlanFrameBytesMax = 1024 + 9 * kMembersMax;  // a name, and three numbers a member
inline constexpr std::size_t kDatagramFrameOnLinkBytesMax = 65'535;
inline constexpr std::size_t kPingFrameBytes = 8;
inline constexpr std::size_t kCloseFrameBytesMax = 2 + 1024;
static_assert(kRoutedFrameBytesMax >= 1 + kMembersMax / 8 + kShortFrameBytesMax);

/// By number, from 1.
inline constexpr FrameTraits kFrameTraits[] = {
    {.type = LinkFrame::control,
     .name = "control",
     .bytes_max = kControlFrameBytesMax,
     .priority = FramePriority::control,
     .reach = FrameReach::neighbour},
    {.type = LinkFrame::view,
     .name = "view",
     .bytes_max = kViewFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::neighbour,
     .bytes = Counter::bytes_stability},
    {.type = LinkFrame::data,
     .name = "data",
     .bytes_max = kDataFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::view,
     .is_packets = true,
     .bytes = Counter::bytes_data},
    {.type = LinkFrame::acknowledgement,
     .name = "acknowledgement",
     .bytes_max = kRoutedFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::view,
     .bytes = Counter::bytes_stability},
    {.type = LinkFrame::stable,
     .name = "stable",
     .bytes_max = kRoutedFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::view,
     .bytes = Counter::bytes_stability},
    {.type = LinkFrame::ready,
     .name = "ready",
     .bytes_max = kRoutedFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::view,
     .bytes = Counter::bytes_stability},
    {.type = LinkFrame::push,
     .name = "push",
     .bytes_max = kPushFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::neighbour,  // its routes are those of the view that it is of
     .bytes = Counter::bytes_push},
    {.type = LinkFrame::ping,
     .name = "ping",
     .bytes_max = kPingFrameBytes,
     .priority = FramePriority::control,
     .reach = FrameReach::link},
    {.type = LinkFrame::pong,
     .name = "pong",
     .bytes_max = kPingFrameBytes,
     .priority = FramePriority::control,
     .reach = FrameReach::link},
    {.type = LinkFrame::close,
     .name = "close",
     .bytes_max = kCloseFrameBytesMax,
     .priority = FramePriority::control,
     .reach = FrameReach::link},
    {.type = LinkFrame::price,
     .name = "price",
     .bytes_max = kPriceFrameBytesMax,
     .priority = FramePriority::control,
     .reach = FrameReach::neighbour,
     .bytes = Counter::bytes_prices},
    {.type = LinkFrame::control_part,
     .name = "control_part",
     .bytes_max = kControlFrameBytesMax,
     .priority = FramePriority::control,
     .reach = FrameReach::neighbour},
    {.type = LinkFrame::bulk_token,
     .name = "bulk_token",
     .bytes_max = kBulkTokenFrameBytes,
     .priority = FramePriority::control,
     .reach = FrameReach::neighbour},
    {.type = LinkFrame::bulk_plan,
     .name = "bulk_plan",
     .bytes_max = kBulkPlanFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::view},
    {.type = LinkFrame::datagram,
     .name = "datagram",
     .bytes_max = kDatagramFrameOnLinkBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::link,
     .is_packets = true,
     .bytes = Counter::bytes_datagrams},
    {.type = LinkFrame::bulk_invitation,
     .name = "bulk_invitation",
     .bytes_max = kRoutedFrameBytesMax,
     .priority = FramePriority::data,
     .reach = FrameReach::view},
};
inline constexpr std::size_t kFrameTypes = std::size(kFrameTraits);
static_assert([] {
  for (std::size_t i = 0; i < kFrameTypes; ++i) {
    if (static_cast<std::size_t>(kFrameTraits[i].type) != i + 1) return false;
  }
  return true;
}());
static_assert(std::all_of(std::begin(kFrameTraits), std::end(kFrameTraits), [](const FrameTraits& each) {
  return each.bytes_max != 0 && each.bytes_max <= spindle::kFrameLengthMax;
}));

/// Of a type that exists.
constexpr const FrameTraits& traits_of(LinkFrame type) { return kFrameTraits[static_cast<std::size_t>(type) - 1]; }

/// Null for a number that no type has.
constexpr const FrameTraits* find_frame(std::uint8_t type) {
  return type == 0 || type > kFrameTypes ? nullptr : &kFrameTraits[type - 1u];
}

}  // namespace spindled
