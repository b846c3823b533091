// Feeds, as far as this daemon has to do with them: those that its clients send, those that they listen to, and those
// that pass by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/context.h"
#include "daemon/base/result.h"
#include "daemon/feed/feed_clients.h"

namespace spindled {

/// What a source wants of its feed.
struct FeedTerms {
  std::string group;
  /// How long a repair is of use; zero: nothing is repaired.
  Duration repair_for{};
  /// Of payload; 0: as much as goes.
  std::uint64_t bytes_per_second_max = 0;
};

/// A feed is opened to a group; its listeners are the members of the group that have said so. Whoever may send to a
/// group may open one to it, which is for the caller to have looked after.
class Feeds {
 public:
  /// Of one client, open at a time.
  static constexpr std::size_t kFeedsPerClient = 64;
  /// Of a message of a feed.
  static constexpr std::size_t kMessageBytesMax = 64u << 10;

  void attach(FeedClients& clients);

  // Requests of local clients.

  /// Where Groups::is_ready. The first room is given before this returns.
  Result<FeedHandle> open(Time now, SessionId source, std::string_view client_name, const FeedTerms& terms);
  /// A message, of 1 to kMessageBytesMax bytes. Nothing on success; unknown_feed for what is none of the client's,
  /// flow_exceeded where it had no room, which it may exceed with the last message: both are for the caller to end the
  /// session for.
  std::optional<Errc> send(Time now, SessionId source, FeedHandle feed, ByteView message);
  /// Nothing more is sent; what waits is. Nothing where it is none of the client's.
  void close(Time now, SessionId source, FeedHandle feed);
  /// The client hears of the feeds of a group, from now on or from when it is a member, and as long as it is one: of
  /// those that are open at once.
  void listen(Time now, SessionId session, std::string_view group);
  void stop_listening(Time now, SessionId session, std::string_view group);
  /// The session is gone: its feeds are closed.
  void close_session(Time now, SessionId session);

  void handle_time(Time now);
  Time next_deadline() const;
  /// The end of a turn, before links and sessions are written.
  void flush(Time now);
};

}  // namespace spindled
