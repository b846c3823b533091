#include "daemon/view/coordinator.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/overlay/view.h"

namespace spindled {

// The phases.

Result<MemberIndex> WaitingReplies::find(const std::vector<DaemonId>& members, const DaemonId& who) const {
  const std::optional<MemberIndex> index = index_in(members, who);
  if (!index) return fail(Errc::bad_argument, "it is not from a member");
  if (answered_[*index]) return fail(Errc::bad_argument, "it came before");
  return *index;
}

Result<void> Gathering::accept(const std::vector<DaemonId>& members, MemberState state) {
  const Result<MemberIndex> index = find(members, state.member);
  if (!index) return tl::unexpected<Error>(index.error());
  const auto [size, is_new] = old_view_sizes_.try_emplace(state.old_view, state.high.size());
  if (size->second != state.high.size()) {
    return fail(Errc::bad_argument, "its high vector is not as long as others' of the same old view");
  }
  states_[*index] = std::move(state);
  answered(*index);
  return {};
}

namespace {

/// What an origin says is stable, every destination has, whatever numbers were addressed to it and to others. Counting
/// all of it as received makes the vectors of members with different destinations alike, and the Commit small; no
/// message is pushed the less, for the origin keeps none of those.
void raise_to_stable(Transition& transition, const std::vector<std::uint64_t>& stable) {
  for (Transition::Member& member : transition.members) {
    for (std::size_t i = 0; i < stable.size(); ++i) member.high[i] = std::max(member.high[i], stable[i]);
  }
}

}  // namespace

Commit Gathering::make_commit(const ViewId& proposal, const Topology& topology,
                              ChooseSequencer choose_sequencer) const {
  SPINDLE_CHECK(is_complete());
  std::map<ViewId, Transition> transitions;
  std::map<ViewId, std::vector<std::uint64_t>> stable;  // by old index; 0 for origins that are not members
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const MemberState& state = *states_[i];
    Transition& transition = transitions[state.old_view];
    transition.old_view = state.old_view;
    transition.members.push_back({static_cast<MemberIndex>(i), state.high});
    transition.safe_line = std::max(transition.safe_line, state.safe_line);
    transition.processed = std::max(transition.processed, state.processed);
    std::vector<std::uint64_t>& lines = stable[state.old_view];
    lines.resize(state.high.size());
    lines[state.old_index] = state.stable;
  }
  Commit commit{proposal, topology.members, topology.edges, choose_sequencer(topology), {}};
  for (auto& [old_view, transition] : transitions) raise_to_stable(transition, stable[old_view]);
  for (auto& [old_view, transition] : transitions) commit.transitions.push_back(std::move(transition));
  return commit;
}

Result<void> Collecting::accept(const std::vector<DaemonId>& members, const Done& done) {
  const Result<MemberIndex> index = find(members, done.member);
  if (!index) return tl::unexpected<Error>(index.error());
  const auto is_member = [&](const Done::Count& count) { return count.to < members.size(); };
  if (!std::all_of(done.pushed.begin(), done.pushed.end(), is_member)) {
    return fail(Errc::bad_argument, "it counts messages to somebody who is not a member");
  }
  for (const Done::Count& count : done.pushed) pushed_to_[count.to] += count.messages;
  answered(*index);
  return {};
}

Result<void> Confirming::accept(const std::vector<DaemonId>& members, const Received& received) {
  const Result<MemberIndex> index = find(members, received.member);
  if (!index) return tl::unexpected<Error>(index.error());
  answered(*index);
  return {};
}

// Coordinator.

namespace {

/// Which members come from which old view: "alpha beta from 3@alpha, gamma from 2@gamma".
std::string origins_of(const Commit& commit) {
  std::string text;
  for (const Transition& transition : commit.transitions) {
    if (!text.empty()) text += ", ";
    for (const Transition::Member& member : transition.members) text += commit.members[member.index].name + " ";
    text += "from " + to_string(transition.old_view);
  }
  return text;
}

}  // namespace

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
