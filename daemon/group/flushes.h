// How synchronous groups come to their views.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/group/group_state.h"
#include "daemon/group/group_views.h"
#include "daemon/group/membership_requests.h"
#include "daemon/group/transitional_signals.h"

namespace spindled {

/// A message to a synchronous group is delivered to its members in the view that its sender, a member, had when it sent
/// it (docs/virtual-synchrony.md). So a change of the members makes no view at once: the view is pending, and members
/// are asked to stop sending. Once all of this daemon's have answered it orders `Flushed`, behind all that they have
/// sent. The view stands where the last daemon's is reached in the order, with all changes up to there; from then on
/// they send in the new view.
///
/// Who has no view yet is not asked, and sends nothing to the group; who is gone is not waited for. Who does not answer
/// in time is overdue, for whoever owns the sessions to take it out of the group.
///
/// A change of the daemons' view starts all that was said over; what members have answered stays true. A message then
/// goes to those members only that have had the sender's view all along with it.
class Flushes {
 public:
  using Cause = spindle::ViewCause;

  Flushes(GroupState& state, GroupViews& views, TransitionalSignals& signals, MembershipRequests& requests)
      : state_(state), views_(views), signals_(signals), requests_(requests) {}

  // Changes of the members of a synchronous group: `keep` before, the others behind it.

  /// Notes the view that local members have, where none is pending.
  void keep(const Group& group);
  /// A local client is a member, and has no view.
  void joined(const Group& group, SessionId session);
  void left(const Group& group, MemberIndex daemon, SessionId session, const std::string& name);
  void changed(Time now, const Group& group, Cause cause, std::uint64_t position);

  /// The operation.
  void flushed(Time now, const Delivery& message, const Flushed& operation);

  // Local clients.

  /// A member has stopped sending. Ignored where the request is not open any more: it may be of a membership that has
  /// ended, or the group have become ordinary.
  void answer(Time now, SessionId session, const spindle::protocol::Flush& answer);
  /// Whether it answers a request that is open.
  bool is_wanted(SessionId session, const spindle::protocol::Flush& answer) const;
  /// Not from its answer on until the view, nor before its first one.
  bool may_send(SessionId session, std::string_view group) const {
    const auto at = closed_.find(group);
    return at == closed_.end() || !at->second.contains(session);
  }
  /// Whether it has joined, and has yet to be told of its first view.
  bool has_no_view_yet(SessionId session, std::string_view group) const;
  /// It is to be taken out of the group for not answering: what it sends to it is refused until it joins anew, for it
  /// may have been sent in the view that the others have left.
  void expel(SessionId session, const std::string& group);
  void readmit(SessionId session, std::string_view group);
  /// Groups that it has been taken out of, and has not joined again.
  std::size_t expelled_from(SessionId session) const;
  /// The first of these groups that this is true of; empty: none.
  std::string_view expelled_from(SessionId session, const std::vector<std::string>& groups) const;
  /// The session is gone.
  void forget(SessionId session) { expelled_.erase(session); }
  /// Whether the local members that have a view get a message to the group: `view` as in the envelope.
  bool is_for_members(const Group& group, MemberIndex origin, std::uint64_t view) const;

  struct Overdue {
    SessionId session = 0;
    std::string group;
  };
  /// Members that have not answered in time: some, where there are very many, of which others come with the next call.
  /// Those that `is_held_up`, because what they have sent may not enter, have as much time once more, and as long as
  /// nothing at all may: what they have sent is to come before their end. They are waited for until they are out of the
  /// group.
  template <typename IsHeldUp>
  std::vector<Overdue> take_overdue(Time now, IsHeldUp&& is_held_up);
  Time next_deadline() const { return due_.empty() ? kNever : due_.begin()->first; }
  /// A host with many clients in many groups may hang: so many members are taken out at once, or looked at.
  static constexpr std::size_t kOverdueAtOnce = 256;
  static constexpr std::size_t kAskedAtOnce = 10'000;

  // Around a change of the daemons' view.

  /// It has begun: daemons have these indices now. In steps.
  void carry_over(Time now, const GroupTable::Renumbering& to);
  /// Whether local members of the group are told by `settle`, and by nobody else.
  bool tells(std::string_view group) const { return state_.pending_views.contains(group) || closed_.contains(group); }
  /// The new table has the group; `former` is what it was in the one that it replaces. Local members were told of that.
  void renew(const Group& group, const Group& former);
  /// The table is there, but for what is in `signalled`: these got a transitional signal somewhere, which a view has to
  /// end, and outlives the steps. Asks the members of all groups that wait; tells those of groups that have become
  /// ordinary.
  void settle(Time now, const std::set<std::string, std::less<>>& signalled);
  /// Messages may be sent: says again what local members have answered.
  void resume(Time now);

 private:
  PendingView* find(std::string_view group) {
    const auto at = state_.pending_views.find(group);
    return at == state_.pending_views.end() ? nullptr : &at->second;
  }
  const PendingView* find(std::string_view group) const { return const_cast<Flushes*>(this)->find(group); }
  static PendingView view_of(const Group& group, MemberIndex self);

  /// The view stands where it is due; otherwise members are asked that were not, and it is said that all have answered.
  void go_on(Time now, const Group& group, std::uint64_t position);
  void ask(Time now, const Group& group, PendingView& view);
  void say_flushed(Time now, const Group& group, PendingView& view);
  void stand(Time now, const Group& group, std::uint64_t position);
  void tell(const Group& group, std::span<const SessionId> newcomers);
  static void carry_over(PendingView& view, const GroupTable::Renumbering& to);
  /// Of the groups that are signalled, or that local members wait for, the first one behind `last`.
  std::optional<std::string> first_to_settle(const std::set<std::string, std::less<>>& signalled,
                                             const std::string& last) const;
  void settle(Time now, const std::string& group, bool is_signalled);

  /// No view of the group is pending any more, or none for local members.
  void end(std::map<std::string, PendingView, std::less<>>::iterator view);
  void set_due(const std::string& group, PendingView& view, Time due);
  template <typename IsHeldUp>
  void take_overdue(Time now, const std::string& group, PendingView& view, IsHeldUp& is_held_up,
                    std::vector<Overdue>& overdue);

  void close(SessionId session, const std::string& group);
  void open(SessionId session, std::string_view group);
  /// To all of its members here.
  void open(Time now, const std::string& group);

  GroupState& state_;
  GroupViews& views_;
  TransitionalSignals& signals_;
  MembershipRequests& requests_;
  std::map<std::string, std::set<SessionId>, std::less<>> closed_;  // groups to local members that may not send to them
  std::map<SessionId, std::set<std::string, std::less<>>> expelled_;
  std::uint64_t last_request_ = 0;
  std::set<std::pair<Time, std::string_view>> due_;  // pending views by PendingView::due; the names are theirs
};

template <typename IsHeldUp>
std::vector<Flushes::Overdue> Flushes::take_overdue(Time now, IsHeldUp&& is_held_up) {
  std::vector<Overdue> overdue;
  std::size_t asked = 0;
  while (next_deadline() <= now && overdue.size() < kOverdueAtOnce && asked < kAskedAtOnce) {
    const auto at = state_.pending_views.find(due_.begin()->second);
    asked += at->second.asked.size();
    take_overdue(now, at->first, at->second, is_held_up, overdue);
  }
  return overdue;
}

template <typename IsHeldUp>
void Flushes::take_overdue(Time now, const std::string& group, PendingView& view, IsHeldUp& is_held_up,
                           std::vector<Overdue>& overdue) {
  Time due = kNever;
  for (auto& [session, asked] : view.asked) {
    if (asked.until <= now && overdue.size() < kOverdueAtOnce) {
      const bool has_more_time = !asked.has_more_time || !state_.is_ready();
      asked.until = kNever;
      if (has_more_time && is_held_up(session)) {
        asked.until = now + state_.context.config.session.flush_timeout;
        asked.has_more_time = true;
      } else {
        overdue.push_back({session, group});
      }
    }
    due = std::min(due, asked.until);
  }
  set_due(group, view, due);
}

}  // namespace spindled
