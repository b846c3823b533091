// View agreement: brings all daemons that reach each other into one view, each time what they can reach changes.
//
// A newcomer reads this class first. A view change goes Propose, MemberState, Commit, pushes and Done, Counts,
// Received, Install (docs/architecture.md, "Views"). Every daemon is a member (Participant: Steady, Answered,
// Recovering); the one that proposes is a Coordinator as well (Gathering, Collecting, Confirming). This class hands
// messages and time to the two, and decides when this daemon proposes.
#pragma once

#include "daemon/base/timers.h"
#include "daemon/view/coordinator.h"
#include "daemon/view/held_back.h"
#include "daemon/view/participant.h"

namespace spindled {

/// Order of calls: `start` once, then the others as things happen; `handle_time` no later than `next_deadline`, which
/// may be at once.
///
/// Who proposes: the smallest name among the daemons that this one reaches acts as soon as the view should change. All
/// others wait as long as the smallest should need, and then longer the further down they stand; a daemon that has
/// waited in vain proposes itself, whatever has kept the rest. So no disagreement lasts, however it came about, and
/// none needs to be foreseen.
class ViewAgreement final : public ViewFrames {
 public:
  /// All references outlive this. `self` is one life of this daemon.
  ViewAgreement(Context& context, ViewTransport& transport, ViewedStreams& streams, DaemonId self,
                ChooseSequencer choose_sequencer);

  /// Installs the view of this daemon alone.
  void start(Time now);
  void handle_time(Time now);
  Time next_deadline() const { return timers_.next(); }

  const View& installed() const { return participant_.installed(); }
  bool is_frozen() const { return participant_.is_frozen(); }
  MemberPhase phase() const { return participant_.phase(); }
  CoordinatorPhase coordinator_phase() const { return coordinator_.phase(); }

  /// Daemons and links that have come and that the view does not change for yet, as this daemon sees them; it is the
  /// coordinator whose hold-downs count.
  std::vector<HeldDown> held_down(Time now) const;

  // ViewFrames
  void topology_changed(Time now) override;
  void control_received(Time now, LinkId from, ControlMessage message) override;
  void push_received(Time now, const Push& push, Slice body) override;
  void link_changed(Time now, LinkId from, bool up) override;

 private:
  enum class Timer : std::uint8_t {
    evaluate,  // compare the view with the topology
    phase,     // the coordinator has waited long enough for the answers to its present phase
    patience,  // the member has waited long enough for the next message of the proposal that it has answered
    count_
  };

  // Messages, by kind. `from` no link: from this daemon itself.
  void drain_mailbox(Time now);
  void dispatch(Time now, std::optional<LinkId> from, const ControlMessage& message);
  void handle(Time now, std::optional<LinkId> from, const Propose& propose);
  void handle(Time now, std::optional<LinkId> from, const MemberState& state);
  void handle(Time now, std::optional<LinkId> from, const Refuse& refuse);
  void handle(Time now, std::optional<LinkId> from, const Commit& commit);
  void handle(Time now, std::optional<LinkId> from, const Done& done);
  void handle(Time now, std::optional<LinkId> from, const Counts& counts);
  void handle(Time now, std::optional<LinkId> from, const Received& received);
  void handle(Time now, std::optional<LinkId> from, const Install& install);
  void view_installed(Time now);

  // Whether to propose.
  void look_around(Time now);
  void evaluate(Time now);
  void evaluate_steady(Time now);
  void phase_expired(Time now);
  void patience_expired(Time now);
  void propose_when_allowed(Time now);
  void propose(Time now);
  bool is_own(const ViewId& proposal) const { return coordinator_of(proposal) == participant_.self(); }
  /// Of the numbers of views that others tell of.
  std::uint64_t highest_believed() const;
  std::size_t rank() const;
  Duration phase_timeout() const;
  Duration patience() const;

  Log log_;
  Context& context_;
  ViewTransport& transport_;
  Mailbox mailbox_;
  Participant participant_;
  Coordinator coordinator_;
  Timers<Timer> timers_;
  Random random_;

  Time next_look_{};    // a topology that changes before is looked at then
  Topology reachable_;  // as of the last look: those that are not suspected, and reached through no suspect
  HoldDowns hold_downs_;
  Suspicions suspicions_;
  std::uint32_t refusals_ = 0;      // of proposals of this daemon since it installed a view
  Time quiet_until_ = Time::min();  // no proposal before, so that two coordinators do not outbid each other in a storm
};

}  // namespace spindled
