#include "daemon/overlay/link_state_database.h"

#include <algorithm>
#include <utility>

namespace spindled {

namespace {

/// Two daemons of one name that both live, and several dead ones besides, could outnumber each other for ever: they do
/// no more often than this.
constexpr Duration kJumpSpacing = 1s;

}  // namespace

LinkStateDatabase::LinkStateDatabase(DaemonId self, Duration refresh_interval)
    : self_(self), lifetime_(kRefreshesMissedMax * refresh_interval), own_(std::move(self), refresh_interval) {}

LinkStateDatabase::Outcome LinkStateDatabase::accept(Time now, LinkState state) {
  if (state.origin == self_) {
    own_.jump_above(now, state.sequence);
    return Outcome::own;
  }
  const auto found = entries_.find(state.origin);
  if (found == entries_.end()) {
    if (!make_room(state)) return Outcome::old;
    if (entries_.size() >= kLinkStatesMax) return Outcome::full;
    mutual_.set(state);
    DaemonId origin = state.origin;
    const bool is_namesake = origin.name == self_.name;
    entries_.emplace(std::move(origin), Entry{std::move(state), now});
    if (is_namesake) stay_among_lives(now);
    return Outcome::changed;
  }
  LinkState& held = found->second.state;
  // One so far above was made up: what its daemon tells itself would be older, until this is forgotten.
  if (state.sequence <= held.sequence || state.sequence - held.sequence > kSequenceJumpMax) return Outcome::old;
  const bool same = state.stays_out == held.stays_out && same_topology(state.links, held.links);
  mutual_.set(state);
  held = std::move(state);
  found->second.received = now;
  if (held.origin.name == self_.name) stay_among_lives(now);
  return same ? Outcome::refreshed : Outcome::changed;
}

/// Which lives are kept depends on nothing but the states themselves, so that no two daemons send each other for ever
/// what the other does not keep.
bool LinkStateDatabase::make_room(const LinkState& state) {
  std::size_t lives = 0;
  auto lowest = entries_.end();
  const auto age_of = [](const LinkState& each) { return std::pair(each.sequence, each.origin.incarnation); };
  for (auto at = entries_.lower_bound({state.origin.name, 0});
       at != entries_.end() && at->first.name == state.origin.name; ++at) {
    ++lives;
    if (lowest == entries_.end() || age_of(at->second.state) < age_of(lowest->second.state)) lowest = at;
  }
  if (lives < kLivesMax) return true;
  if (age_of(state) < age_of(lowest->second.state)) return false;
  mutual_.erase(lowest->first);
  entries_.erase(lowest);
  return true;
}

/// Others keep kLivesMax lives of this name, this one among them.
void LinkStateDatabase::stay_among_lives(Time now) {
  std::size_t higher = 0;
  std::uint64_t highest = 0;
  for (auto at = entries_.lower_bound({self_.name, 0}); at != entries_.end() && at->first.name == self_.name; ++at) {
    if (at->second.state.sequence >= own_.published().sequence) ++higher;
    highest = std::max(highest, at->second.state.sequence);
  }
  if (higher < kLivesMax || (jumped_at_ != Time::min() && now - jumped_at_ < kJumpSpacing)) return;
  jumped_at_ = now;
  own_.jump_above_lives(now, highest);
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
  summary.entries.reserve(entries_.size() + 1);
  for (const auto& [origin, entry] : entries_) summary.entries.push_back({origin, entry.state.sequence});
  if (own_.published().sequence != 0) {
    const auto place =
        std::lower_bound(summary.entries.begin(), summary.entries.end(), self_,
                         [](const LinkStateSummary::Entry& entry, const DaemonId& id) { return entry.origin < id; });
    summary.entries.insert(place, {self_, own_.published().sequence});
  }
  return summary;
}

std::vector<LinkState> LinkStateDatabase::lacking(const LinkStateSummary& theirs) const {
  std::vector<LinkState> states;
  const auto add_if_lacking = [&](const LinkState& state) {
    const auto held =
        std::lower_bound(theirs.entries.begin(), theirs.entries.end(), state.origin,
                         [](const LinkStateSummary::Entry& entry, const DaemonId& id) { return entry.origin < id; });
    if (held == theirs.entries.end() || held->origin != state.origin || held->sequence < state.sequence) {
      states.push_back(state);
    }
  };
  if (own_.published().sequence != 0) add_if_lacking(own_.published());
  for (const auto& [origin, entry] : entries_) add_if_lacking(entry.state);
  return states;
}

Topology LinkStateDatabase::reachable() const {
  if (own_.stays_out()) return {{self_}, {}};
  if (own_version_ != own_.version()) {
    own_version_ = own_.version();
    mutual_.set(own_.current());
  }
  return mutual_.reachable_from(self_);
}

}  // namespace spindled
