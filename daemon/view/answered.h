// The phase of a member that has answered a proposal and waits for its Commit.
#pragma once

#include <utility>

#include "daemon/base/result.h"
#include "daemon/overlay/view.h"
#include "daemon/view/phases.h"
#include "daemon/view/view_participants.h"

namespace spindled {

/// Knows what was proposed and what this member has said, and holds the Commit to it.
class Answered {
 public:
  static constexpr MemberPhase kPhase = MemberPhase::answered;

  Answered(Propose propose, FrozenState state) : propose_(std::move(propose)), state_(std::move(state)) {}

  /// bad_argument, with what is wrong, for a Commit that this member must not act on. `old_view` is the one it is
  /// frozen in. On success the value is the transition that the member takes part in.
  Result<const Transition*> check(const Commit& commit, const View& old_view) const;

 private:
  Result<const Transition*> own_transition(const Commit& commit, const View& old_view, MemberIndex self) const;

  Propose propose_;
  FrozenState state_;
};

}  // namespace spindled
