// Who listens at this daemon, and what they are told.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/feed/feed_clients.h"
#include "daemon/feed/feed_directory.h"
#include "daemon/group/groups.h"

namespace spindled {

/// A client that has said `listen` hears of the feeds of a group as long as it is a member of it: of those that are
/// open at once. It begins with the first packet that comes then; one that was there when the feed was opened, with the
/// first that there is. One that has left the group, or listens no more, is told of the end of each feed that it has
/// heard: what is on its way to it may reach it when it listens again, and would be without an end then.
///
/// Packets that overtake the opening of their feed wait for it, kEarlyBytesMax of all feeds; so does the word that some
/// are lost.
class FeedListeners {
 public:
  FeedListeners(Context& context, Groups& groups, const FeedDirectory& directory)
      : context_(context), groups_(groups), directory_(directory) {}
  void attach(FeedClients& clients) { clients_ = &clients; }

  /// Groups that one client may have said it listens to, while there is memory.
  static constexpr std::size_t kGroupsPerClient = 10'000;
  static constexpr std::size_t kEarlyBytesMax = 256u << 10;

  // What clients ask.

  std::optional<Errc> listen(SessionId session, std::string_view group);
  void stop_listening(SessionId session, std::string_view group);
  void close_session(SessionId session);

  // Members. A local one has been told of a view of the group, or is no member any more.

  void member_came(const Group& group, SessionId session);
  void member_left(const Group& group, SessionId session);
  /// From here on the table of the groups says nothing.
  void begin_view() { is_settled_ = false; }
  /// It says who is a member again: listeners are told of what has come and gone meanwhile, one feed after the other,
  /// in steps of the groups (Groups::do_in_steps).
  void settle(Time now);

  // Feeds, which are in the directory.

  void opened(const OpenFeed& feed, bool is_new);
  void ended(const OpenFeed& feed, FeedEnd why);

  // What comes of them. Sequences count from 0.

  /// `is_newest`: of what is behind it nothing has come yet. Who has just begun to listen begins with such a one.
  void deliver(const FeedKey& feed, std::uint64_t sequence, std::uint8_t flags, ByteView payload, bool is_newest);
  /// None of these will be delivered.
  void lost(const FeedKey& feed, std::uint64_t first, std::uint64_t count);
  bool has_listeners(const FeedKey& feed) const { return told_.contains(feed); }

  /// What waits, who listens to what, and who was told of what.
  std::size_t memory_bytes() const {
    return early_bytes_ + early_lost_runs_ * kLostRunBytes + listening_bytes_ + told_.size() * kToldBytes +
           size_ * sizeof(Listener);
  }
  /// That have been told of some feed, counted per feed.
  std::size_t size() const { return size_; }
  /// That have been told of the feed.
  std::size_t listeners_of(const FeedKey& feed) const {
    const auto told = told_.find(feed);
    return told == told_.end() ? 0 : told->second.size();
  }

 private:
  struct Listener {
    SessionId session = 0;
    std::uint64_t from = 0;  // the first sequence that it gets
  };
  /// Up to where listeners are settled.
  struct Settling {
    std::optional<std::string> group;  // none: nothing is
    std::optional<FeedKey> feed;       // of the group; none: none of it
    std::uint64_t requests = 0;        // `requests_` as of then
    std::vector<SessionId> due;        // who is to hear the feeds of the group, rising
  };
  static constexpr std::size_t kLostRunBytes = 64;
  static constexpr std::size_t kToldBytes = 160;          // of a feed, beside its listeners
  static constexpr std::uint64_t kWithNext = UINT64_MAX;  // a listener's `from`: of the packet that comes next
  struct Early {
    FeedKey feed;
    std::uint64_t sequence = 0;
    std::uint8_t flags = 0;
    std::vector<std::uint8_t> payload;
  };

  bool may_tell() const { return is_settled_ && !groups_.tells_changes_later(); }
  bool is_member(const Group& group, SessionId session) const;
  bool is_listening(SessionId session, std::string_view group) const;
  /// To sessions in rising order, which have not been told of it.
  void describe(const OpenFeed& feed, std::span<const SessionId> to, std::uint64_t from);
  void describe_all(std::string_view group, SessionId to);
  void forget(std::string_view group, SessionId session);
  bool settle_next(Settling& at);
  const OpenFeed* find_next(std::string_view group, const std::optional<FeedKey>& feed) const;
  void settle(const OpenFeed& feed, std::span<const SessionId> due);
  /// Who listens and has been told of a view of the group, in rising order.
  std::vector<SessionId> find_due(std::string_view group) const;
  void deliver(std::vector<Listener>& listeners, const OpenFeed& feed, std::uint64_t sequence, std::uint8_t flags,
               ByteView payload, bool is_newest);
  void hold(const FeedKey& feed, std::uint64_t sequence, std::uint8_t flags, ByteView payload);
  void lose(const OpenFeed& feed, std::uint64_t first, std::uint64_t count);
  void hold_lost(const FeedKey& feed, std::uint64_t first, std::uint64_t count);
  void deliver_early(const OpenFeed& feed);

  Context& context_;
  Groups& groups_;
  const FeedDirectory& directory_;
  FeedClients* clients_ = nullptr;
  bool is_settled_ = false;
  std::map<std::string, std::set<SessionId>, std::less<>> listening_;  // by group
  std::map<SessionId, std::set<std::string, std::less<>>> groups_of_;  // the same by session
  std::uint64_t requests_ = 0;                                         // that have changed these, ever
  std::map<FeedKey, std::vector<Listener>> told_;  // by feed; none is empty, and sessions are in rising order
  std::size_t size_ = 0;                           // of all these together
  std::deque<Early> early_;
  std::size_t early_bytes_ = 0;
  std::map<FeedKey, std::map<std::uint64_t, std::uint64_t>> early_lost_;  // ends of runs, by their beginnings
  std::size_t early_lost_runs_ = 0;                                       // of all feeds
  std::size_t listening_bytes_ = 0;                                       // roughly
  std::vector<SessionId> to_, newcomers_;                                 // only while something is told
};

}  // namespace spindled
