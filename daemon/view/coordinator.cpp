#include "daemon/view/coordinator.h"

#include <algorithm>
#include <type_traits>
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

template <typename Phase, typename Answer>
const Phase* Coordinator::complete_with(const Answer& answer, std::string_view what) {
  Phase* phase = std::get_if<Phase>(&phase_);
  if (phase == nullptr || answer.proposal != proposal_) return nullptr;
  if (const Result<void> accepted = phase->accept(topology_.members, answer); !accepted) {
    log_.warning("{} of {} for {} ignored: {}", what, answer.member.name, to_string(proposal_),
                 accepted.error().message());
    return nullptr;
  }
  return phase->is_complete() ? phase : nullptr;
}

bool Coordinator::state_received(const MemberState& state) {
  const auto* gathering = complete_with<Gathering>(state, "state");
  if (gathering == nullptr) return false;
  Commit commit = gathering->make_commit(proposal_, topology_, choose_sequencer_);
  log_.debug("has all states, commits {}: {}", to_string(proposal_), origins_of(commit));
  enter(Collecting(topology_.members));
  mailbox_.push_back(std::move(commit));
  return true;
}

bool Coordinator::done_received(const Done& done) {
  const auto* collecting = complete_with<Collecting>(done, "done");
  if (collecting == nullptr) return false;
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
  if (complete_with<Confirming>(received, "received") == nullptr) return false;
  tell_to_install();
  return true;
}

void Coordinator::tell_to_install() {
  log_.debug("tells all to install {}", to_string(proposal_));
  enter(Closing());
  mailbox_.push_back(Install{proposal_});
}

std::vector<DaemonId> Coordinator::silent() const {
  const auto awaited = [](const auto& phase) -> const WaitingReplies* {
    if constexpr (std::is_base_of_v<WaitingReplies, std::decay_t<decltype(phase)>>) return &phase;
    return nullptr;
  };
  std::vector<DaemonId> silent;
  const WaitingReplies* waiting = std::visit(awaited, phase_);
  for (std::size_t i = 0; waiting != nullptr && i < topology_.members.size(); ++i) {
    if (waiting->is_missing(static_cast<MemberIndex>(i))) silent.push_back(topology_.members[i]);
  }
  return silent;
}

void Coordinator::retire() {
  if (phase() != CoordinatorPhase::closing) log_.debug("gives up {}", to_string(proposal_));
  enter(Idle());
}

}  // namespace spindled
