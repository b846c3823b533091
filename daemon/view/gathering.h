// The phase of a coordinator that has proposed and waits for the state of every member.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "daemon/overlay/topology.h"
#include "daemon/view/phases.h"
#include "daemon/view/waiting_replies.h"

namespace spindled {

/// Picks the sequencer of a view from its topology: the same at every daemon. Policy, given by whoever wires the node.
using ChooseSequencer = MemberIndex (*)(const Topology&);

class Gathering final : public WaitingReplies {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::gathering;

  explicit Gathering(const std::vector<DaemonId>& members) : WaitingReplies(members.size()), states_(members.size()) {}

  /// bad_argument for a state that is not that of a member, comes again, or contradicts another member's about the old
  /// view that they share.
  Result<void> accept(const std::vector<DaemonId>& members, MemberState state);

  /// Once complete.
  Commit make_commit(const ViewId& proposal, const Topology& topology, ChooseSequencer choose_sequencer) const;

 private:
  std::vector<std::optional<MemberState>> states_;  // per member of the proposal
  std::map<ViewId, std::size_t> old_view_sizes_;
};

}  // namespace spindled
