// The feeds of this daemon's own clients.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/feed/feed_listeners.h"
#include "daemon/feed/feed_operations.h"
#include "daemon/feed/feed_repair.h"
#include "daemon/feed/feed_source.h"
#include "daemon/feed/own_tree.h"
#include "daemon/group/groups.h"
#include "daemon/link/links.h"

namespace spindled {

/// Opens and closes them in the order, sends what waits when it may leave, and tells their clients what more may come.
/// A feed's number at other daemons is its handle here.
///
/// What has entered waits until the opening of the feed has come out of the order: hardly a packet overtakes it then. A
/// feed that is closed stays until nobody can ask for its packets any more.
class FeedSources {
 public:
  struct Around {
    const Links& links;
    Groups& groups;
    const FeedDirectory& directory;
    FeedRepair& repair;
    FeedListeners& listeners;
  };
  FeedSources(Context& context, Around around) : context_(context), around_(around) {}
  void attach(FeedClients& clients) { clients_ = &clients; }

  /// Of one client, that are open or were closed a moment ago.
  static constexpr std::size_t kFeedsPerClient = 64;
  /// Of all of them.
  static constexpr std::size_t kFeedsMax = 1'024;

  // From clients, as in Feeds.

  /// `handle`: has not been used.
  Result<FeedHandle> open(Time now, FeedHandle handle, FeedSource::Owner owner, FeedTerms terms,
                          const FeedRoutes& routes);
  std::optional<Errc> send(Time now, SessionId session, FeedHandle feed, ByteView message);
  void close(SessionId session, FeedHandle feed);
  bool deny(SessionId session, FeedHandle feed);
  void close_session(SessionId session);
  template <typename Visit>
  void for_each_of(SessionId session, Visit&& visit) const;

  // Their places in the order, and views.

  /// The opening of the feed, which is in the directory, came out of the order.
  void opened(FeedHandle feed);
  /// The feed is in no directory, for want of room.
  void refused(Time now, FeedHandle feed);
  /// `routes`: of the new view; its members have come together if `is_meeting`.
  void view_began(Time now, const GroupTable::Renumbering& to, bool is_meeting);
  void table_completed() { is_settled_ = true; }
  /// Operations may be originated again.
  void may_originate();

  // From the network.

  /// A member of a view lacks packets, or has lacked them.
  void lost(Time now, FeedHandle feed, const DaemonId& reporter, std::uint64_t first, const FeedNak& nak);
  Time silent_until(FeedHandle feed) const;
  void repaired(FeedHandle feed, std::size_t bytes);
  /// Ordered messages have kept a packet of it from a link.
  void yielded(Time now, FeedHandle feed);

  /// Sends what may leave, and tells what is to be told, as far as the turn has room.
  void flush(Time now, const FeedRoutes& routes);
  Time next_at() const {
    if (!touched_.empty()) return Time::min();
    return wakes_.empty() ? kNever : wakes_.begin()->first;
  }

  using Sources = std::map<FeedHandle, std::unique_ptr<FeedSource>>;
  const Sources& all() const { return sources_; }
  std::uint64_t reductions() const { return reductions_; }
  std::uint64_t packets() const { return packets_; }
  /// That they take of the pool, and beside it.
  std::size_t slab_bytes() const;
  std::size_t heap_bytes() const;
  /// Of messages that have not left.
  std::size_t waiting_bytes() const;

 private:
  FeedSource* find(FeedHandle feed) const;
  FeedSource* find(SessionId session, FeedHandle feed) const;
  void touch(FeedHandle feed) { touched_.insert(feed); }
  /// Before anything else of a turn: looks whether this daemon comes late.
  void note_time(Time now);
  void wake(FeedHandle feed, Time at);
  void set_destinations(Time now, FeedSource& source, MemberSet to, const FeedRoutes& routes);
  void find_destinations(Time now, const FeedRoutes& routes);
  void find_destinations(Time now, FeedSource& source, const FeedRoutes& routes);
  void send_all(Time now, const FeedRoutes& routes);
  void look_at(Time now, FeedHandle feed, const FeedRoutes& routes);
  void send_waiting(Time now, FeedSource& source, const FeedRoutes& routes);
  void send_packet(Time now, FeedSource& source, std::size_t payload_max);
  void tell(Time now, FeedSource& source, std::size_t payload_max);
  /// Of a packet, in a view of that size.
  std::size_t payload_max(const FeedRoutes& routes) const;
  void say_again(Time now);
  void end_drained(Time now);
  void remove(FeedHandle feed);
  void originate(Time now, const FeedOperation& operation);
  FeedKey key_of(FeedHandle feed) const;

  Context& context_;
  Around around_;
  FeedClients* clients_ = nullptr;
  OwnTree tree_;
  bool is_tree_old_ = true;  // it is of an earlier view
  Time due_ = kNever;        // when there is something to do next, as of the end of the last turn
  Duration late_by_{};       // by so much that had passed when this daemon last came late,
  Time late_at_{};           // which was then
  Sources sources_;
  std::map<SessionId, std::set<FeedHandle>> by_session_;
  std::map<FeedHandle, Time> over_at_;  // closed at all daemons; until then somebody may ask for packets
  std::set<FeedHandle> touched_;        // to be looked at in this turn, or in the next one
  FeedHandle looked_at_ = 0;            // the last one
  std::set<std::pair<Time, FeedHandle>> wakes_;
  std::map<FeedHandle, Time> wake_of_;  // the same
  std::set<FeedHandle> drained_;        // that are to be closed in the order
  MemberSet to_;                        // only while a packet is sent
  bool is_settled_ = false;             // the table of the groups says who is where
  bool is_view_new_ = false;            // the routes are others than when destinations were set
  std::uint64_t version_ = 0;           // of that table, as of the last look
  std::uint64_t reductions_ = 0;
  std::uint64_t packets_ = 0;
};

template <typename Visit>
void FeedSources::for_each_of(SessionId session, Visit&& visit) const {
  const auto feeds = by_session_.find(session);
  if (feeds == by_session_.end()) return;
  for (const FeedHandle each : feeds->second) visit(each, find(each)->terms().group);
}

}  // namespace spindled
