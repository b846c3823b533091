#include "daemon/view/gathering.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

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

}  // namespace spindled
