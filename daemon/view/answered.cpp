#include "daemon/view/answered.h"

#include <algorithm>

#include "daemon/view/topology_difference.h"

namespace spindled {

namespace {

bool are_sound(const std::vector<Edge>& edges, std::size_t members) {
  const auto is_sound = [&](const Edge& edge) { return edge.a < edge.b && edge.b < members && edge.weight >= 1; };
  const auto by_ends = [](const Edge& x, const Edge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); };
  return std::all_of(edges.begin(), edges.end(), is_sound) && std::is_sorted(edges.begin(), edges.end(), by_ends);
}

/// Whether each of `members` is in exactly one of the transitions.
bool are_partition(const std::vector<Transition>& transitions, std::size_t members) {
  std::vector<bool> seen(members, false);
  std::size_t count = 0;
  for (const Transition& transition : transitions) {
    for (const Transition::Member& member : transition.members) {
      if (member.index >= members || seen[member.index]) return false;
      seen[member.index] = true;
      ++count;
    }
  }
  return count == members;
}

}  // namespace

Result<const Transition*> Answered::check(const Commit& commit, const View& old_view) const {
  const DaemonId& self = old_view.members[old_view.self];
  if (commit.proposal != propose_.proposal) return fail(Errc::bad_argument, "it is not for the proposal answered last");
  if (commit.members != propose_.members) return fail(Errc::bad_argument, "its members are not those proposed");
  const std::optional<MemberIndex> index = index_in(commit.members, self);
  if (!index) return fail(Errc::bad_argument, "this daemon is not a member");
  if (commit.sequencer >= commit.members.size()) return fail(Errc::bad_argument, "its sequencer is out of range");
  if (!are_sound(commit.edges, commit.members.size())) return fail(Errc::bad_argument, "its links are not valid");
  if (!is_connected(commit.members.size(), commit.edges)) {
    return fail(Errc::bad_argument, "its links do not connect its members");
  }
  if (!are_partition(commit.transitions, commit.members.size())) {
    return fail(Errc::bad_argument, "a member is not in exactly one transition");
  }
  for (const Transition& transition : commit.transitions) {
    const bool old_is_own = transition.old_view == old_view.id;
    const auto is_self = [&](const Transition::Member& member) { return member.index == *index; };
    const bool is_own = std::any_of(transition.members.begin(), transition.members.end(), is_self);
    if (old_is_own != is_own) return fail(Errc::bad_argument, "this daemon's old view is not the one it is frozen in");
  }
  return own_transition(commit, old_view, *index);
}

Result<const Transition*> Answered::own_transition(const Commit& commit, const View& old_view, MemberIndex self) const {
  const auto is_own = [&](const Transition& transition) { return transition.old_view == old_view.id; };
  const auto own = std::find_if(commit.transitions.begin(), commit.transitions.end(), is_own);
  std::vector<bool> moves_along(old_view.size(), false);
  for (const Transition::Member& member : own->members) {
    const std::optional<MemberIndex> old_index = index_in(old_view.members, commit.members[member.index]);
    if (!old_index) {
      return fail(Errc::bad_argument, "its transitional set has a daemon that was not in the old view");
    }
    if (member.high.size() != old_view.size()) {
      return fail(Errc::bad_argument, "a high vector does not have the old view's size");
    }
    moves_along[*old_index] = true;
  }
  const auto is_self = [&](const Transition::Member& member) { return member.index == self; };
  const Transition::Member& said = *std::find_if(own->members.begin(), own->members.end(), is_self);
  for (std::size_t i = 0; i < old_view.size(); ++i) {
    // Above what it has said only as far as an origin that moves along vouches for.
    const bool agrees =
        moves_along[i] && i != old_view.self ? said.high[i] >= state_.high[i] : said.high[i] == state_.high[i];
    if (!agrees) return fail(Errc::bad_argument, "this daemon's high vector is not what it has said");
  }
  if (own->safe_line < state_.safe_line) return fail(Errc::bad_argument, "its safe line is below this daemon's");
  if (own->processed < state_.processed) return fail(Errc::bad_argument, "its order ends before this daemon's");
  return &*own;
}

}  // namespace spindled
