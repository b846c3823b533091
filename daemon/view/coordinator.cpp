#include "daemon/view/coordinator.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/view/log_lines.h"

namespace spindled {

CoordinatorPhase Coordinator::phase() const {
  return std::visit([](const auto& phase) { return phase.kPhase; }, phase_);
}

void Coordinator::enter(PhaseState next) {
  const CoordinatorPhase before = phase();
  phase_ = std::move(next);
  SPINDLE_CHECK(may_follow(before, phase()));
}

void Coordinator::propose(ViewId proposal, Topology topology) {
  SPINDLE_CHECK(proposal_ < proposal);
  proposal_ = std::move(proposal);
  topology_ = std::move(topology);
  log_.debug("proposes {}: {}", to_string(proposal_), names_of(topology_.members));
  enter(Gathering(topology_.members));
  mailbox_.push_back(Propose{proposal_, topology_.members});
}

bool Coordinator::state_received(const MemberState& state) {
  Gathering* gathering = std::get_if<Gathering>(&phase_);
  if (gathering == nullptr || state.proposal != proposal_) return false;
  if (const Result<void> accepted = gathering->accept(topology_.members, state); !accepted) {
    log_.warning("state of {} for {} ignored: {}", state.member.name, to_string(proposal_), accepted.error().message());
    return false;
  }
  if (!gathering->is_complete()) return false;
  Commit commit = gathering->make_commit(proposal_, topology_, choose_sequencer_);
  log_.debug("has all states, commits {}: {}", to_string(proposal_), origins_of(commit));
  enter(Collecting(topology_.members));
  mailbox_.push_back(std::move(commit));
  return true;
}

bool Coordinator::done_received(const Done& done) {
  Collecting* collecting = std::get_if<Collecting>(&phase_);
  if (collecting == nullptr || done.proposal != proposal_) return false;
  if (const Result<void> accepted = collecting->accept(topology_.members, done); !accepted) {
    log_.warning("done of {} for {} ignored: {}", done.member.name, to_string(proposal_), accepted.error().message());
    return false;
  }
  if (!collecting->is_complete()) return false;
  Counts counts{proposal_, collecting->pushed_to()};
  log_.debug("has all counts of {}: pushed was {}", to_string(proposal_),
             pushes_of(topology_.members, counts.pushed_to));
  const auto is_none = [](std::uint64_t count) { return count == 0; };
  if (std::all_of(counts.pushed_to.begin(), counts.pushed_to.end(), is_none)) {
    tell_to_install();
  } else {
    enter(Confirming(topology_.members));
    mailbox_.push_back(std::move(counts));
  }
  return true;
}

bool Coordinator::received_received(const Received& received) {
  Confirming* confirming = std::get_if<Confirming>(&phase_);
  if (confirming == nullptr || received.proposal != proposal_) return false;
  if (const Result<void> accepted = confirming->accept(topology_.members, received); !accepted) {
    log_.warning("word of {} that it has received all of {} ignored: {}", received.member.name, to_string(proposal_),
                 accepted.error().message());
    return false;
  }
  if (!confirming->is_complete()) return false;
  tell_to_install();
  return true;
}

void Coordinator::tell_to_install() {
  log_.debug("tells all to install {}", to_string(proposal_));
  enter(Closing());
  mailbox_.push_back(Install{proposal_});
}

std::vector<DaemonId> Coordinator::silent() const {
  std::vector<DaemonId> silent;
  for (std::size_t i = 0; i < topology_.members.size(); ++i) {
    const auto member = static_cast<MemberIndex>(i);
    const auto* gathering = std::get_if<Gathering>(&phase_);
    const auto* collecting = std::get_if<Collecting>(&phase_);
    const auto* confirming = std::get_if<Confirming>(&phase_);
    if ((gathering != nullptr && gathering->is_missing(member)) ||
        (collecting != nullptr && collecting->is_missing(member)) ||
        (confirming != nullptr && confirming->is_missing(member))) {
      silent.push_back(topology_.members[i]);
    }
  }
  return silent;
}

void Coordinator::retire() {
  if (phase() != CoordinatorPhase::closing) log_.debug("gives up {}", to_string(proposal_));
  enter(Idle());
}

}  // namespace spindled
