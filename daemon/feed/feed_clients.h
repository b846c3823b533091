// What feeds tell local clients.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/feed/rate.h"
#include "daemon/group/operations.h"

namespace spindled {

/// Names a feed at this daemon, for its local clients, as long as it lives; never 0, and never used again. The source
/// and the listeners of this daemon know a feed by the same one.
using FeedHandle = std::uint32_t;

/// Of payload, in one packet: what a client is told at once.
inline constexpr std::size_t kFeedPayloadMax = 32u << 10;

/// How the network treats a feed, for its source.
struct FeedFlow {
  double bytes_per_second = 0;  // that may leave, of payload
  Duration round_trip{};        // to listeners behind what is congested; zero: nothing is known of it
  double loss = 0;              // of packets, on the worst path: 0 to 1
  FeedLimit limited_by = FeedLimit::start;
};

/// What listeners know of a feed.
struct FeedDescription {
  FeedHandle feed = 0;
  std::string_view group;
  std::string_view source;  // private name
  Duration repair_for{};
  /// The first packet that they get is 0; otherwise it is the one that comes next.
  bool is_new = false;
};

/// Why packets are missing, or a feed is over.
enum class FeedGapCause : std::uint8_t {
  lost,  // in the network, and not repaired in time
  slow,  // the client has not read them in time
};
enum class FeedEnd : std::uint8_t {
  closed,  // by its source, or with its source's session
  lost,    // its daemon is out of reach, or gone
  denied,  // the rules of access have changed
  left,    // to a listener alone: it is no member of the group any more, or does not listen
};

/// Implemented by the sessions. Session ids that are gone are ignored. What is given is valid during the call, which
/// does not call back.
class FeedClients {
 public:
  virtual ~FeedClients() = default;

  // To the source.

  /// The source may send so many bytes of payload more than it was told before.
  virtual void give_room(SessionId source, FeedHandle feed, std::size_t bytes) = 0;
  virtual void tell_flow(SessionId source, FeedHandle feed, const FeedFlow& flow) = 0;

  // To listeners, of each feed in this order: it is described, packets and gaps, its end. Who has left hears of the
  // same feed from its description on again, where it comes back.

  virtual void describe(std::span<const SessionId> to, const FeedDescription& feed) = 0;
  /// In the order in which they come; each sequence at most once, and never one that a gap has had. The first packet of
  /// a feed has 0. `flags` are FeedPacket::kFirst and kLast, of fragments of a message, and kBundle.
  virtual void deliver(std::span<const SessionId> to, FeedHandle feed, std::uint64_t sequence, std::uint8_t flags,
                       ByteView payload) = 0;
  /// These never come.
  virtual void lose(std::span<const SessionId> to, FeedHandle feed, std::uint64_t first, std::uint64_t count) = 0;
  /// To listeners, and to its source where that has not closed it.
  virtual void end(std::span<const SessionId> to, FeedHandle feed, FeedEnd why) = 0;
};

/// Where there are none.
class NoFeedClients final : public FeedClients {
 public:
  void give_room(SessionId, FeedHandle, std::size_t) override {}
  void tell_flow(SessionId, FeedHandle, const FeedFlow&) override {}
  void describe(std::span<const SessionId>, const FeedDescription&) override {}
  void deliver(std::span<const SessionId>, FeedHandle, std::uint64_t, std::uint8_t, ByteView) override {}
  void lose(std::span<const SessionId>, FeedHandle, std::uint64_t, std::uint64_t) override {}
  void end(std::span<const SessionId>, FeedHandle, FeedEnd) override {}
};

}  // namespace spindled
