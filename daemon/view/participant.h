// The half of view agreement that every daemon plays: the member, who answers proposals and installs views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "daemon/base/context.h"
#include "daemon/overlay/view_transport.h"
#include "daemon/view/answered.h"
#include "daemon/view/mailbox.h"
#include "daemon/view/recovering.h"
#include "daemon/view/steady.h"
#include "daemon/view/view_participants.h"

namespace spindled {

/// Also passes on the floods of its proposal, and the answers of others back to where the Propose came from. Messages
/// `from` no link are those of this daemon's own coordinator.
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
