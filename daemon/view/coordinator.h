// The coordinator's half of view agreement. Before it stand the classes of its phases (phases.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/overlay/topology.h"
#include "daemon/view/halves.h"
#include "daemon/view/phases.h"
#include "daemon/wire/control.h"

namespace spindled {

/// Which members have answered, in a phase of a coordinator that waits for all of them.
class WaitingReplies {
 public:
  bool is_complete() const { return missing_ == 0; }
  bool is_missing(MemberIndex member) const { return !answered_[member]; }

 protected:
  explicit WaitingReplies(std::size_t members) : answered_(members), missing_(members) {}

  /// The index of `who` among `members`; bad_argument where it is none of them, or has answered.
  Result<MemberIndex> find(const std::vector<DaemonId>& members, const DaemonId& who) const;
  /// `member` was missing.
  void answered(MemberIndex member) {
    answered_[member] = true;
    --missing_;
  }

 private:
  std::vector<bool> answered_;
  std::size_t missing_;
};

/// Picks the sequencer of a view from its topology: the same at every daemon. Policy, given by whoever wires the node.
using ChooseSequencer = MemberIndex (*)(const Topology&);

/// The phase of a coordinator that has proposed and waits for the state of every member.
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

/// The phase of a coordinator that has committed and waits until every member has pushed.
class Collecting final : public WaitingReplies {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::collecting;

  explicit Collecting(const std::vector<DaemonId>& members)
      : WaitingReplies(members.size()), pushed_to_(members.size()) {}

  /// bad_argument for a Done that is not that of a member, comes again, or counts what was pushed to nobody.
  Result<void> accept(const std::vector<DaemonId>& members, const Done& done);

  /// Once complete: what was pushed to each member.
  const std::vector<std::uint64_t>& pushed_to() const { return pushed_to_; }

 private:
  std::vector<std::uint64_t> pushed_to_;
};

/// The phase of a coordinator that has told all how much was pushed and waits until every member has received as much.
class Confirming final : public WaitingReplies {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::confirming;

  explicit Confirming(const std::vector<DaemonId>& members) : WaitingReplies(members.size()) {}

  /// bad_argument for a Received that is not that of a member, or comes again.
  Result<void> accept(const std::vector<DaemonId>& members, const Received& received);
};

/// The half of view agreement that proposes a view and sees it through. Idle at most daemons most of the time. What it
/// sends goes to the member of its own daemon, which floods it.
class Coordinator {
 public:
  Coordinator(Log log, Mailbox& mailbox, ChooseSequencer choose_sequencer)
      : log_(log), mailbox_(mailbox), choose_sequencer_(choose_sequencer) {}

  CoordinatorPhase phase() const;
  bool is_active() const { return phase() != CoordinatorPhase::idle; }
  /// Of the present proposal; while active.
  const ViewId& proposal() const { return proposal_; }
  const Topology& topology() const { return topology_; }

  /// Proposes the members of `topology` under `proposal`, higher than any before, and gives up the present proposal.
  void propose(ViewId proposal, Topology topology);
  /// Answers to the present proposal; others are ignored. True where it thereby came to the next phase.
  bool state_received(const MemberState& state);
  bool done_received(const Done& done);
  bool received_received(const Received& received);
  /// Whom the present phase waits for.
  std::vector<DaemonId> silent() const;
  /// The proposal is installed here, or another daemon's has won.
  void retire();

 private:
  struct Idle {
    static constexpr CoordinatorPhase kPhase = CoordinatorPhase::idle;
  };
  struct Closing {
    static constexpr CoordinatorPhase kPhase = CoordinatorPhase::closing;
  };
  using PhaseState = std::variant<Idle, Gathering, Collecting, Confirming, Closing>;

  void enter(PhaseState next);
  /// The phase that waits for such answers, if this one makes it complete; `what` names the answer in the log.
  template <typename Phase, typename Answer>
  const Phase* complete_with(const Answer& answer, std::string_view what);
  void tell_to_install();

  Log log_;
  Mailbox& mailbox_;
  ChooseSequencer choose_sequencer_;
  ViewId proposal_;
  Topology topology_;  // as it was on proposing: the next view's snapshot
  PhaseState phase_;
};

}  // namespace spindled
