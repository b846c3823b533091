// Feeds, as far as this daemon has to do with them: those that its clients send, those that they listen to, and those
// that pass by.
//
// A newcomer reads this class first, and then its parts: FeedDirectory for what all daemons know, and feed_operations.h
// for what travels of that; FeedSources and FeedSource for what local clients send, with FeedRate and FeedPacer;
// FeedListeners for what they are told; FeedTransport for the way to links and from them; FeedRepair for what is passed
// on and repaired.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/admission/own_prices.h"
#include "daemon/base/context.h"
#include "daemon/base/result.h"
#include "daemon/feed/feed_clients.h"
#include "daemon/feed/feed_directory.h"
#include "daemon/feed/feed_listeners.h"
#include "daemon/feed/feed_operations.h"
#include "daemon/feed/feed_repair.h"
#include "daemon/feed/feed_sources.h"
#include "daemon/feed/feed_transport.h"
#include "daemon/group/groups.h"
#include "daemon/group/membership_observer.h"
#include "daemon/link/links.h"

namespace spindled {

/// A feed is opened to a group; its listeners are the members of the group that have said so. Whoever may send to a
/// group may open one to it, which is for the caller to have looked after.
///
/// Feeds are opened and closed at places of the order. Their packets are in no order and in no view: they go on while
/// daemons agree on the next one.
class Feeds final : private MembershipObserver {
 public:
  /// All outlive this one, which observes the groups and takes the frames of feeds from here on.
  Feeds(Context& context, Links& links, Groups& groups, const OwnPrices& prices);
  /// Before anything of clients.
  void attach(FeedClients& clients);

  /// Of one client, that are open or were closed a moment ago.
  static constexpr std::size_t kFeedsPerClient = FeedSources::kFeedsPerClient;
  /// Groups that one client may listen to.
  static constexpr std::size_t kListensPerClient = FeedListeners::kGroupsPerClient;
  /// Of a message of a feed.
  static constexpr std::size_t kMessageBytesMax = 64u << 10;
  /// A longer FeedTerms::repair_for counts as that.
  static constexpr Duration kRepairForMax = spindled::kRepairForMax;

  // Requests of local clients.

  /// Where Groups::is_ready. The first room is given before this returns.
  Result<FeedHandle> open(Time now, SessionId source, std::string_view client_name, const FeedTerms& terms);
  /// A message, of 1 to kMessageBytesMax bytes. Nothing on success; unknown_feed for what is none of the client's,
  /// flow_exceeded where it had no room, which it may exceed with the last message: both are for the caller to end the
  /// session for.
  std::optional<Errc> send(Time now, SessionId source, FeedHandle feed, ByteView message);
  /// Nothing more is sent; what waits is. Nothing where it is none of the client's.
  void close(Time now, SessionId source, FeedHandle feed);
  /// The client may not send to the feed any more, which it may have closed: what waits is dropped. Whether that, or
  /// that the feed ends, is something to tell it.
  bool deny(Time now, SessionId source, FeedHandle feed);
  /// The feeds of a client, also those that it has closed and of which something waits or may be asked for: calls
  /// `visit(feed, group)`, which changes nothing here.
  template <typename Visit>
  void for_each_of(SessionId source, Visit&& visit) const {
    sources_.for_each_of(source, visit);
  }
  /// The client hears of the feeds of a group, from now on or from when it is a member, and as long as it is one: of
  /// those that are open at once. Who leaves is told nothing more of them, and not their ends. Nothing on success.
  std::optional<Errc> listen(Time now, SessionId session, std::string_view group);
  void stop_listening(Time now, SessionId session, std::string_view group);
  /// The session is gone: its feeds are closed, and what waits of them goes out, or is dropped (FeedSource::abandon).
  void close_session(Time now, SessionId session);

  /// The configuration has changed.
  void reconsider();

  void handle_time(Time now);
  Time next_deadline() const;
  /// The end of a turn, before links and sessions are written.
  void flush(Time now);

  // For the administrator.

  const FeedDirectory& directory() const { return directory_; }
  const FeedSources& sources() const { return sources_; }
  const FeedListeners& listeners() const { return listeners_; }
  const FeedRepair& repair() const { return repair_; }
  /// Nothing more is sent, and listeners here are yet to be told.
  bool is_ending(const FeedKey& feed) const { return ending_.contains(feed); }
  std::size_t memory_bytes() const { return heap_bytes() + sources_.slab_bytes(); }
  /// Of these, what is not in slabs, which the limit of memory counts by themselves.
  std::size_t heap_bytes() const;

  // For tests, in which a daemon sends what none sends.

  RepairOutput& output() { return transport_; }
  const FeedRoutes& routes() const { return transport_.routes(); }
  std::uint64_t routes_found() const { return transport_.routes_found(); }

 private:
  /// A feed of another daemon of which nothing more is sent.
  struct Ending {
    std::uint32_t end = 0;  // the lowest bits of the sequence behind its last packet
    Time over_at{};         // what has not come by then does not come
  };

  // MembershipObserver
  void member_came(Time now, const Group& group, SessionId session) override;
  void member_left(Time now, std::uint64_t position, const Group& group, MemberIndex daemon,
                   SessionId session) override;
  void member_leaves(Time, SessionId) override {}
  void view_began(Time now, const GroupTable::Renumbering& to, const MemberSet& came_along) override;
  void table_completed(Time now) override;
  void opened(Time now) override;

  /// False where it makes no sense.
  bool deliver(Time now, const Delivery& message, std::uint8_t number, ByteView content);
  template <typename Operation>
  void apply_in_steps(Time now, MemberIndex origin, Operation operation);
  void apply(Time now, MemberIndex origin, FeedsOpened::Feed& said);
  void apply(Time now, MemberIndex origin, const FeedsClosed::Feed& said);
  void end(const OpenFeed& feed, FeedEnd why);
  void end_lost(Time now, std::vector<FeedKey> feeds);
  void end_doubtful(Time now);
  void rejoin_all(Time now);
  void end_whole(Time now);
  void count();

  /// After the last packet of a feed, what is missing has so much more time than repairs are of use.
  static constexpr Duration kEndGrace = 1s;

  Context& context_;
  Log log_;
  Groups& groups_;
  NoFeedClients nobody_;
  FeedDirectory directory_;
  FeedTransport transport_;
  FeedRepair repair_;
  FeedListeners listeners_;
  FeedSources sources_;
  std::map<FeedKey, Ending> ending_;
  FeedHandle last_handle_ = 0;
  Time flushed_at_{};
  bool has_unended_ = false;  // feeds are over, and the turn had no room for their ends
};

}  // namespace spindled
