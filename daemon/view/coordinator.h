// The half of view agreement that proposes a view and sees it through.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/view/collecting.h"
#include "daemon/view/confirming.h"
#include "daemon/view/gathering.h"
#include "daemon/view/mailbox.h"

namespace spindled {

/// Idle at most daemons most of the time. What it sends goes to the member of its own daemon, which floods it.
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
