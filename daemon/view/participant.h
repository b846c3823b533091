// The member's half of view agreement. Before it stand the classes of its phases (phases.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "daemon/base/context.h"
#include "daemon/base/node_config.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/overlay/view.h"
#include "daemon/overlay/view_transport.h"
#include "daemon/view/halves.h"
#include "daemon/view/held_back.h"
#include "daemon/view/phases.h"
#include "daemon/view/view_participants.h"

namespace spindled {

/// The phase of a member whose view is installed and whose messages flow. Watches whether the view still says what the
/// overlay sees.
class Steady {
 public:
  static constexpr MemberPhase kPhase = MemberPhase::steady;

  explicit Steady(Topology view) : view_(std::move(view)) {}

  /// When the view should change, given what is reachable now: at the first sight of a loss; for a gain alone, once all
  /// that is new has been held down; for better paths alone, once they have lasted. kNever while nothing differs.
  /// `reachable` is what `hold_downs` has observed last.
  Time change_due(Time now, const Topology& reachable, const HoldDowns& hold_downs, const ViewConfig& config);

 private:
  Topology view_;
  // Since when this kind of difference has lasted.
  std::optional<Time> lost_since_;
  std::optional<Time> gained_since_;
  std::optional<Time> reweighed_since_;
};

/// The phase of a member that has answered a proposal and waits for its Commit. Knows what was proposed and what this
/// member has said, and holds the Commit to it.
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

/// The phase of a member that recovers the messages of its old view under a Commit. Counts what the others push, and
/// knows when all of it is there.
class Recovering {
 public:
  static constexpr MemberPhase kPhase = MemberPhase::recovering;

  Recovering(View view, Transition transition) : view_(std::move(view)), transition_(std::move(transition)) {}

  const View& view() const { return view_; }                    // the next
  const Transition& transition() const { return transition_; }  // this daemon's own

  void count_push() { ++received_; }
  /// False, and nothing changes, where the counts are not of this view or came before.
  bool expect(const Counts& counts);
  /// Whether the counts are known and as much has arrived; without counts, whether there can be none.
  bool is_complete() const;
  /// True once: when the counts are known and as much has arrived.
  bool take_completion();

 private:
  View view_;
  Transition transition_;
  std::uint64_t received_ = 0;
  std::optional<std::uint64_t> expected_;
  bool completed_ = false;
};

/// The half of view agreement that every daemon plays: the member, who answers proposals and installs views. Also
/// passes on the floods of its proposal, and the answers of others back to where the Propose came from. Messages `from`
/// no link are those of this daemon's own coordinator.
class Participant {
 public:
  Participant(Context& context, ViewTransport& transport, ViewedStreams& streams, DaemonId self, Mailbox& mailbox);

  /// Installs the view of this daemon alone.
  void start(Time now, std::uint64_t number);

  const DaemonId& self() const { return self_; }
  MemberPhase phase() const;
  bool is_frozen() const { return phase() != MemberPhase::steady; }
  const View& installed() const { return installed_; }
  /// The highest proposal answered so far; that of the installed view, or a later one.
  const ViewId& answered() const { return answered_; }
  /// Who proposed it.
  const DaemonId& coordinator() const { return coordinator_; }
  std::uint64_t highest_number() const { return highest_number_; }
  /// Proposals since the view was installed whose recovery had begun when the next one came.
  std::size_t vain_recoveries() const { return vain_recoveries_; }
  /// `number` has been used by somebody for a proposal.
  void note_number(std::uint64_t number) { highest_number_ = std::max(highest_number_, number); }

  /// Steady::change_due; kNever in other phases.
  Time change_due(Time now, const Topology& reachable, const HoldDowns& hold_downs);

  /// True where the proposal was answered.
  bool propose_received(Time now, std::optional<LinkId> from, const Propose& propose);
  /// True where recovery begins.
  bool commit_received(Time now, std::optional<LinkId> from, const Commit& commit);
  /// True where the counts belong to this recovery.
  bool counts_received(Time now, std::optional<LinkId> from, const Counts& counts);
  void push_received(Time now, const Push& push, Slice body);
  /// True where the view was installed.
  bool install_received(Time now, std::optional<LinkId> from, const Install& message);
  /// Passes on another's answer to `proposal`.
  void relay(const ViewId& proposal, const ControlMessage& answer);
  void link_lost(LinkId link);

 private:
  void enter(std::variant<Steady, Answered, Recovering> next);
  void answer(const ControlMessage& message);
  void refuse(std::optional<LinkId> to, const ViewId& proposal);
  void push_and_report(const Commit& commit, MemberIndex self);
  void report_if_complete(Time now);
  void install(Time now, View view, const Transition& transition);

  Log log_;
  Counters& counters_;
  const ViewConfig& config_;
  ViewTransport& transport_;
  ViewedStreams& streams_;
  Mailbox& mailbox_;
  const DaemonId self_;

  View installed_;
  ViewId answered_;
  DaemonId coordinator_;
  std::optional<LinkId> parent_;  // where the Propose came from; none: from this daemon, or the link is down
  std::uint64_t highest_number_ = 0;
  std::size_t vain_recoveries_ = 0;
  std::variant<Steady, Answered, Recovering> phase_;
};

}  // namespace spindled
