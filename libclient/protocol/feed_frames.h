// What clients ask of feeds, and what their daemon tells them. `docs/wire-format.md` shows each frame with a worked
// example.
//
// A feed is what one client, its source, sends to those members of a group who listen, and is not ordered with anything
// but itself. It is known by a number of its daemon's: the same for its source and for all who listen there, as long as
// the session lasts, and never that of another feed of that daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "libclient/common/bytes.h"
#include "libclient/protocol/client_frames.h"

namespace spindle::protocol {

using FeedNumber = std::uint32_t;

/// Of one message of a feed: at least one, too.
inline constexpr std::size_t kFeedMessageBytesMax = 64u << 10;
/// Of a packet, as a daemon delivers it.
inline constexpr std::size_t kFeedPacketBytesMax = 32u << 10;
/// The last sequence that there may be, so that sums do not overflow.
inline constexpr std::uint64_t kFeedSequenceMax = std::uint64_t{1} << 62;
/// What a repair may be of use for at most.
inline constexpr std::uint64_t kRepairForMaxUs = 60'000'000;

/// Why packets are missing, and why a feed has ended.
enum class FeedGapCause : std::uint8_t { lost = 0, slow = 1 };
inline constexpr FeedGapCause kFeedGapCauseLast = FeedGapCause::slow;
/// `left`: the client hears it no more, as it has left its group or listens there no more. It may hear it again, and of
/// its own feeds `left` ends none.
enum class FeedEnd : std::uint8_t { closed = 0, lost = 1, denied = 2, left = 3 };
inline constexpr FeedEnd kFeedEndLast = FeedEnd::left;
/// What keeps the rate of a feed from growing.
enum class FeedLimit : std::uint8_t { start = 0, link = 1, source = 2, maximum = 3, share = 4 };
inline constexpr FeedLimit kFeedLimitLast = FeedLimit::share;

// From the client.

/// Answered by a `feed_ready`, or by a `reply` with the reason.
struct FeedOpen {
  std::uint32_t request = 0;
  std::string_view group;  // for the daemon to judge
  std::uint64_t repair_for_us = 0;
  std::uint64_t bytes_per_second_max = 0;  // of payload; 0: as much as goes
  bool operator==(const FeedOpen&) const = default;
};
/// A message. The client has room for it.
struct FeedSend {
  FeedNumber feed = 0;
  ByteView payload;
};
struct FeedClose {
  FeedNumber feed = 0;
  bool operator==(const FeedClose&) const = default;
};
// `listen` and `stop_listening` are GroupRequests without flags.

// From the daemon.

struct FeedReady {
  std::uint32_t request = 0;
  FeedNumber feed = 0;
  std::uint64_t room = 0;  // bytes of payload; the last message may exceed it
  bool operator==(const FeedReady&) const = default;
};
struct FeedRoom {
  FeedNumber feed = 0;
  std::uint64_t bytes = 0;  // so many more
  bool operator==(const FeedRoom&) const = default;
};
struct FeedFlow {
  FeedNumber feed = 0;
  std::uint64_t bytes_per_second = 0;
  std::uint64_t round_trip_us = 0;  // 0: not known
  std::uint16_t loss = 0;           // in 65,535ths
  FeedLimit limited_by = FeedLimit::start;
  bool operator==(const FeedFlow&) const = default;
};
inline constexpr std::uint16_t kFeedLossMax = 65'535;

/// What comes of a feed, in this order: it is described, packets and gaps, its end.
struct FeedOpened {
  FeedNumber feed = 0;
  std::uint64_t repair_for_us = 0;
  std::string_view group;
  std::string_view source;  // private name
  /// The first packet is 0; otherwise it is the first one that comes.
  bool is_new = true;
  bool operator==(const FeedOpened&) const = default;
};
/// A fragment of a message, or all of one, or several (feed_bundle.h).
struct FeedPacket {
  static constexpr std::uint8_t kFirst = 1;
  static constexpr std::uint8_t kLast = 2;
  static constexpr std::uint8_t kBundle = 4;  // with both of them
  FeedNumber feed = 0;
  std::uint64_t sequence = 0;
  std::uint8_t flags = 0;
  ByteView payload;
};
/// These never come.
struct FeedGap {
  FeedNumber feed = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;  // not 0
  FeedGapCause cause = FeedGapCause::lost;
  bool operator==(const FeedGap&) const = default;
};
struct FeedEnded {
  FeedNumber feed = 0;
  FeedEnd why = FeedEnd::closed;
  bool operator==(const FeedEnded&) const = default;
};
using FeedNews = std::variant<FeedReady, FeedRoom, FeedFlow, FeedOpened, FeedPacket, FeedGap, FeedEnded>;

constexpr bool is_feed_request(ClientFrame type) {
  return type >= ClientFrame::feed_open && type <= ClientFrame::stop_listening;
}
constexpr bool is_feed_news(ClientFrame type) {
  return type >= ClientFrame::feed_ready && type <= ClientFrame::feed_end;
}

// As in client_frames.h: each `write_*` appends one frame, each `read_*` takes the bytes behind the head.
void write_feed_open(std::vector<std::uint8_t>& out, const FeedOpen& open);
void write_feed_send(std::vector<std::uint8_t>& out, const FeedSend& send);
/// The same where the payload, of so many bytes, is not in one piece: it follows.
void write_feed_send_head(std::vector<std::uint8_t>& out, FeedNumber feed, std::size_t payload_bytes);
void write_feed_close(std::vector<std::uint8_t>& out, const FeedClose& close);
/// `type` is `listen` or `stop_listening`.
void write_listen(std::vector<std::uint8_t>& out, ClientFrame type, const GroupRequest& request);
void write_feed_news(std::vector<std::uint8_t>& out, const FeedNews& news);

std::optional<FeedOpen> read_feed_open(ByteView body);
std::optional<FeedSend> read_feed_send(ByteView body);
std::optional<FeedClose> read_feed_close(ByteView body);
std::optional<GroupRequest> read_listen(ByteView body);
std::optional<FeedNews> read_feed_news(ClientFrame type, ByteView body);

}  // namespace spindle::protocol
