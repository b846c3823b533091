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
    mutual_.set(state);
    std::string name = state.origin.name;
    entries_.emplace(std::move(name), Entry{std::move(state), now});
    return Outcome::changed;
  }
  LinkState& held = found->second.state;
  if (!is_newer(state.origin.incarnation, state.sequence, held.origin.incarnation, held.sequence)) return Outcome::old;
  const bool same = state.origin == held.origin && same_topology(state.links, held.links);
  mutual_.set(state);
  held = std::move(state);
  found->second.received = now;
  return same ? Outcome::refreshed : Outcome::changed;
}

void LinkStateDatabase::peer_connected(const DaemonId& peer) {
  const auto found = entries_.find(peer.name);
  if (found == entries_.end() || found->second.state.origin.incarnation == peer.incarnation) return;
  mutual_.erase(peer.name);
  entries_.erase(found);
}

bool LinkStateDatabase::expire(Time now) {
  return std::erase_if(entries_, [&](const auto& entry) {
           if (entry.second.received + lifetime_ > now) return false;
           mutual_.erase(entry.first);
           return true;
         }) > 0;
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

Topology LinkStateDatabase::reachable() const {
  if (own_version_ != own_.version()) {
    own_version_ = own_.version();
    mutual_.set(own_.current());
  }
  return mutual_.reachable_from(self_.name);
}

}  // namespace spindled
