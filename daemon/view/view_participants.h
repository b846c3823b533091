// What view agreement asks of the layers around it.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// What a daemon holds of its old view once it is frozen in it.
struct FrozenState {
  std::vector<std::uint64_t> high;  // per member of the old view
  std::uint64_t safe_line = 0;
  std::uint64_t processed = 0;  // position up to which this daemon has been through the order
  std::uint64_t stable = 0;     // of this daemon's own stream: every destination has it up to here
};

/// A message that this daemon must push to others of its transitional set.
struct PushOut {
  MemberSet to;  // indices in the new view
  Slice head;    // the body, in one or two parts
  Slice tail;
};

/// The streams and their order, as view agreement sees them (implemented by `order::Order`). The calls come in this
/// order, any of the first four again when a later proposal replaces the one before:
///
///   freeze          on answering a proposal. Idempotent: a later proposal finds the same frozen state. `high` counts
///                   what came over the old view's routes, and what a recovery brought that was complete here;
///                   never what an incomplete one pushed, for that may have gaps
///   plan_pushes     on commit; pushes accepted under an earlier commit that was not complete are forgotten
///   accept_push     for each push that arrives under that commit
///   recovered       when all of them are there; not called where nothing was pushed to anybody
///   install         closes the old view (deliveries of recovery, transitional signal) and opens the new one
class ViewedStreams {
 public:
  virtual ~ViewedStreams() = default;

  virtual FrozenState freeze(Time now) = 0;

  /// The messages of the old view that the rule makes this daemon push: those that some other member of its
  /// transitional set lacks, where this daemon is the origin, or the origin is not in the set and this is its smallest
  /// member that holds the message. `commit.transitions` holds exactly one that contains `self`, an index in the new
  /// view.
  virtual std::vector<PushOut> plan_pushes(const Commit& commit, MemberIndex self) = 0;

  /// A message of the old view arrived as a push; false where the bytes are no valid body of that view. One that is
  /// there already is accepted and changes nothing.
  virtual bool accept_push(Slice body) = 0;

  /// From here on what was pushed counts as received, even if the proposal is abandoned: others may install the view,
  /// and deliver, on the strength of that.
  virtual void recovered(Time now) = 0;

  /// `transition` is this daemon's own. On return the new view is open for messages.
  virtual void install(Time now, const View& view, const Transition& transition) = 0;
};

}  // namespace spindled
