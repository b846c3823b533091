// Subscribe, then join: how this daemon's subscriptions to groups come and go.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/ring.h"
#include "daemon/group/operations.h"

namespace spindled {

/// A message that is ordered after a join must have been sent to the joiner's daemon. So a daemon first orders a
/// subscription to the group; the join follows once the horizon has passed it, that is, once everything that is still
/// to be ordered was sent by daemons that knew of the subscription. With the last member gone the daemon unsubscribes.
///
/// One state machine a group that has or wants local members:
///
///   (none) --join wanted--> subscribing --ordered--> waiting --horizon--> subscribed --last left--> unsubscribing
///   --ordered--> (none)
///
/// A join that is wanted while unsubscribing starts over when the unsubscription is through. Subscriptions do not wait
/// for each other; joins enter in the order of their client's RequestLine, so that one may find its subscription there
/// and still have to wait. A subscription stays as long as a join is wanted.
///
/// A group that has local members, and for which nothing is on its way, has no entry here: the caller says how many
/// there are. So a daemon whose clients are in very many groups keeps nothing more for them than the group table.
///
/// What a call returns is what to originate next for the group, if anything.
class Subscriptions {
 public:
  enum class Step : std::uint8_t { none, subscribe, unsubscribe };

  /// `session` wants to join a group that has `members` local members in the table.
  Step want(const std::string& group, SessionId session, std::size_t members);
  /// Whether a join that is wanted may enter now; if so it does.
  bool start_join(const std::string& group);
  /// A join that was wanted and has not entered is wanted no more. There are `members` local members.
  Step withdraw(const std::string& group, std::size_t members);
  /// This daemon's own subscription was ordered at `position`.
  void subscribed(const std::string& group, std::uint64_t position);
  /// Whether a subscription waits for everything to be sent by daemons that have been through the order up to
  /// `position`, as they have now.
  bool has_passed(std::uint64_t position) const { return !waiting_.empty() && waiting_.front().first <= position; }
  /// The first such subscription waits no more.
  struct Reached {
    std::string group;
    Step step = Step::none;           // unsubscribe: whoever wanted to join has gone meanwhile
    std::vector<SessionId> sessions;  // whose joins had to wait, in the order in which they began to
  };
  Reached pass_horizon();
  /// A local join was ordered, with which there are `members` local ones.
  void joined(const std::string& group, std::size_t members);
  /// A local member left; `members_left` local members remain.
  Step left(const std::string& group, std::size_t members_left);
  /// This daemon's own unsubscription was ordered.
  Step unsubscribed(const std::string& group);

  /// Groups for which something is on its way.
  std::size_t size() const { return entries_.size(); }

  /// A new view: groups with local members are subscribed from its start; joins that have not entered have to be wanted
  /// anew. None is on its way any more: closing the old view has delivered them.
  void restart();

 private:
  enum class State : std::uint8_t { subscribing, waiting, subscribed, unsubscribing };
  struct Entry {
    State state = State::subscribing;
    std::uint64_t position = 0;  // of the subscription, while waiting
    std::size_t wanted = 0;      // joins that have not entered
    std::size_t on_their_way = 0;
    std::vector<SessionId> sessions;  // that wanted to join before the state was `subscribed`

    bool is_needed() const { return wanted != 0 || on_their_way != 0; }
  };

  std::map<std::string, Entry> entries_;                     // none where a group just has members
  Ring<std::pair<std::uint64_t, std::string>, 64> waiting_;  // ascending by position
};

}  // namespace spindled
