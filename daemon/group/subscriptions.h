// Subscribe, then join: how this daemon's subscriptions to groups come and go.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/group/operations.h"

namespace spindled {

/// A message that is ordered after a join must have been sent to the joiner's daemon. So a daemon first orders a
/// subscription to the group; the join follows once the horizon has passed it, that is, once everything that is still
/// to be ordered was sent by daemons that knew of the subscription. With the last member gone the daemon unsubscribes.
///
/// One state machine a group that has or wants local members:
///
///   (none) --join--> subscribing --ordered--> waiting --horizon--> subscribed --last left--> unsubscribing
///   --ordered--> (none)
///
/// A join while unsubscribing starts over when the unsubscription is through.
///
/// A group that has local members, and for which nothing is on its way, has no entry here: the caller says how many
/// there are. So a daemon whose clients are in very many groups keeps nothing more for them than the group table.
class Subscriptions {
 public:
  /// What to originate next.
  struct Step {
    enum class Kind : std::uint8_t { subscribe, join, unsubscribe };
    Kind kind;
    std::string group;
    SessionId session = 0;  // of a join
  };

  /// `session` wants to join a group that has `members` local members in the table.
  std::vector<Step> want(const std::string& group, SessionId session, std::size_t members);
  /// This daemon's own subscription was ordered at `position`.
  void subscribed(const std::string& group, std::uint64_t position);
  /// Everything ordered from now on was sent by daemons that had been through the order up to `position`.
  std::vector<Step> horizon_advanced(std::uint64_t position);
  /// A local join was ordered, with which there are `members` local ones.
  void joined(const std::string& group, std::size_t members);
  /// A local member left; `members_left` local members remain.
  std::vector<Step> left(const std::string& group, std::size_t members_left);
  /// This daemon's own unsubscription was ordered.
  std::vector<Step> unsubscribed(const std::string& group);
  /// `session` no longer wants to join; false where its join is on its way already, or was never wanted.
  bool withdraw(const std::string& group, SessionId session);
  /// The session is gone: it no longer wants to join anything.
  void forget(SessionId session);

  // Around a view change, when nothing can be originated.

  /// `session` wants to join once the group table of the next view is there.
  void want_later(const std::string& group, SessionId session) { later_.emplace_back(group, session); }
  /// A new view: groups with local members are subscribed from its start; other joins have to start over. No join is on
  /// its way any more: closing the old view has delivered them.
  void restart();
  /// Groups and sessions that want to join them, to be passed to `want` now that the table is there.
  std::vector<std::pair<std::string, SessionId>> take_later() { return std::exchange(later_, {}); }

 private:
  enum class State : std::uint8_t { subscribing, waiting, subscribed, unsubscribing };
  struct Entry {
    State state = State::subscribing;
    std::uint64_t position = 0;  // of the subscription, while waiting
    std::vector<SessionId> wanting;
    std::size_t joins_on_their_way = 0;
  };

  static void join_all(const std::string& group, Entry& entry, std::vector<Step>& steps);

  std::map<std::string, Entry> entries_;                        // none where a group just has members
  std::vector<std::pair<std::uint64_t, std::string>> waiting_;  // ascending by position
  std::vector<std::pair<std::string, SessionId>> later_;
};

}  // namespace spindled
