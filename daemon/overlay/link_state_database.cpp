#include "daemon/overlay/link_state_database.h"

#include <algorithm>

namespace spindled {

namespace {

/// Whether the state of (`incarnation`, `sequence`) is later than the other of the same daemon.
bool is_newer(std::uint64_t incarnation, std::uint64_t sequence, std::uint64_t other_incarnation,
              std::uint64_t other_sequence) {
  return incarnation != other_incarnation ? incarnation > other_incarnation : sequence > other_sequence;
}

}  // namespace

LinkStateDatabase::LinkStateDatabase(DaemonId self, Duration refresh_interval)
    : self_(self), lifetime_(kRefreshesMissedMax * refresh_interval), own_(std::move(self), refresh_interval) {}

LinkStateDatabase::Outcome LinkStateDatabase::accept(Time now, LinkState state) {
  if (state.origin.name == self_.name) {
    if (state.origin.incarnation > self_.incarnation) return Outcome::name_conflict;
    if (state.origin.incarnation == self_.incarnation) own_.jump_above(now, state.sequence);
    return Outcome::own;
  }
  const auto found = entries_.find(state.origin.name);
  if (found == entries_.end()) {
    if (entries_.size() >= kLinkStatesMax) return Outcome::full;
    std::string name = state.origin.name;
    entries_.emplace(std::move(name), Entry{std::move(state), now});
    return Outcome::changed;
  }
  LinkState& held = found->second.state;
  if (!is_newer(state.origin.incarnation, state.sequence, held.origin.incarnation, held.sequence)) return Outcome::old;
  const bool same = state.origin == held.origin && same_topology(state.links, held.links);
  held = std::move(state);
  found->second.received = now;
  return same ? Outcome::refreshed : Outcome::changed;
}

void LinkStateDatabase::peer_connected(const DaemonId& peer) {
  const auto found = entries_.find(peer.name);
  if (found != entries_.end() && found->second.state.origin.incarnation != peer.incarnation) entries_.erase(found);
}

bool LinkStateDatabase::expire(Time now) {
  return std::erase_if(entries_, [&](const auto& entry) { return entry.second.received + lifetime_ <= now; }) > 0;
}

LinkStateSummary LinkStateDatabase::summary() const {
  LinkStateSummary summary;
  for (const auto& [name, entry] : entries_) summary.entries.push_back({entry.state.origin, entry.state.sequence});
  if (own_.published().sequence != 0) {
    const auto place = std::lower_bound(
        summary.entries.begin(), summary.entries.end(), self_.name,
        [](const LinkStateSummary::Entry& entry, const std::string& name) { return entry.origin.name < name; });
    summary.entries.insert(place, {self_, own_.published().sequence});
  }
  return summary;
}

std::vector<LinkState> LinkStateDatabase::lacking(const LinkStateSummary& theirs) const {
  std::vector<LinkState> states;
  const auto add_if_lacking = [&](const LinkState& state) {
    const auto held = std::lower_bound(
        theirs.entries.begin(), theirs.entries.end(), state.origin.name,
        [](const LinkStateSummary::Entry& entry, const std::string& name) { return entry.origin.name < name; });
    if (held == theirs.entries.end() || held->origin.name != state.origin.name ||
        is_newer(state.origin.incarnation, state.sequence, held->origin.incarnation, held->sequence)) {
      states.push_back(state);
    }
  };
  if (own_.published().sequence != 0) add_if_lacking(own_.published());
  for (const auto& [name, entry] : entries_) add_if_lacking(entry.state);
  return states;
}

const LinkState* LinkStateDatabase::find(const LinkState& own, std::string_view name) const {
  if (name == self_.name) return &own;
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second.state;
}

const AdvertisedLink* LinkStateDatabase::answering(const LinkState& from, const AdvertisedLink& link,
                                                   const LinkState& to) {
  if (to.origin.incarnation != link.neighbour_incarnation) return nullptr;
  const auto back =
      std::lower_bound(to.links.begin(), to.links.end(), from.origin.name,
                       [](const AdvertisedLink& other, const std::string& name) { return other.neighbour < name; });
  if (back == to.links.end() || back->neighbour != from.origin.name ||
      back->neighbour_incarnation != from.origin.incarnation) {
    return nullptr;
  }
  return &*back;
}

Topology LinkStateDatabase::reachable() const {
  const LinkState own = own_.current();
  std::map<std::string_view, MemberIndex> index;  // by name; the index is filled in once all members are known
  std::vector<const LinkState*> found{&own};      // in the order of the breadth-first search
  index.emplace(self_.name, 0);
  for (std::size_t next = 0; next < found.size(); ++next) {
    for (const AdvertisedLink& link : found[next]->links) {
      if (found.size() >= kMembersMax) break;
      const LinkState* neighbour = find(own, link.neighbour);
      if (neighbour == nullptr || answering(*found[next], link, *neighbour) == nullptr) continue;
      if (index.emplace(neighbour->origin.name, MemberIndex{0}).second) found.push_back(neighbour);
    }
  }

  Topology topology;
  topology.members.reserve(found.size());
  std::sort(found.begin(), found.end(),
            [](const LinkState* a, const LinkState* b) { return a->origin.name < b->origin.name; });
  for (const LinkState* state : found) {
    index[state->origin.name] = static_cast<MemberIndex>(topology.members.size());
    topology.members.push_back(state->origin);
  }
  for (const LinkState* state : found) {
    const MemberIndex a = index[state->origin.name];
    for (const AdvertisedLink& link : state->links) {
      const auto other = index.find(link.neighbour);
      if (other == index.end() || other->second <= a) continue;
      const AdvertisedLink* back = answering(*state, link, *found[other->second]);
      if (back == nullptr) continue;
      topology.edges.push_back(
          {a, other->second, std::max(link.weight, back->weight), std::max(link.round_trip_us, back->round_trip_us)});
    }
  }
  return topology;  // links are sorted by neighbour, and so the edges by (a, b)
}

}  // namespace spindled
