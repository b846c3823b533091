// Recovery: what those who go on together retransmit to one another of the old view.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "daemon/order/order_state.h"
#include "daemon/order/transitional_set.h"
#include "daemon/view/view_participants.h"

namespace spindled {

/// The phase from a commit to the end of the old view; there is one for each commit. When a view breaks its members
/// have received different parts of its streams. Recovery gives every member of the transitional set what another one
/// has and it lacks, so that all of them can end the view alike (ViewClosing).
///
/// Nobody asks for anything. What a member has of a stream is a prefix of what the stream addressed to it, and the
/// commit says up to which number. So everybody knows who lacks what, and one rule says who retransmits it: its origin,
/// or, where the origin is gone, the smallest member of the set that has it. Whoever has a message that is not stable
/// retains it (Stability), but for its origin where no other is to have it; and a stable one nobody lacks.
///
/// What is retransmitted is held here at first, since it comes in any order. It counts as received only when all of it
/// is there: what a daemon says that it has received must be a prefix, in a later proposal, too. A commit that is given
/// up before takes along what is held.
///
/// Order of calls: `plan`; `accept` for each retransmission; `take` of the members' streams and `complete_streams` when
/// all are there; `take` of all streams when the view ends.
class Recovery {
 public:
  /// `self` is this daemon in the view that `commit` leads to. View agreement has checked the commit against the old
  /// view.
  Recovery(OrderState& state, const Commit& commit, MemberIndex self);

  const TransitionalSet& set() const { return set_; }

  /// What this daemon has to retransmit.
  std::vector<PushOut> plan() const;
  /// A body has arrived; false where it is none of the old view. What is here already is dropped.
  bool accept(Slice bytes);
  /// Of bodies that are held.
  std::size_t held_bytes() const;

  enum class Streams : std::uint8_t { of_members, all };
  /// The bodies held of these streams, by origin and number. They are held no longer.
  std::vector<Slice> take(Streams streams);
  /// All that the set's members have sent to this daemon is there now: what it has of their streams is a prefix again,
  /// up to the end. Of streams of others, messages may be missing in between that nobody in the set has.
  void complete_streams();

 private:
  OrderState& state_;
  TransitionalSet set_;
  std::map<std::pair<MemberIndex, std::uint64_t>, Slice> held_;  // by origin and stream number
};

}  // namespace spindled
