#include "daemon/view/held_back.h"

#include <algorithm>
#include <utility>

namespace spindled {

// HoldDowns.

namespace {

/// The times of what stays, in order, with those of what is new, which `ready_at` tells, in its places. `lost` are
/// places in `times`, `gained` in the result; both ascend.
template <typename Place, typename ReadyAt>
std::vector<Time> carry_over(const std::vector<Time>& times, const std::vector<Place>& lost,
                             const std::vector<Place>& gained, ReadyAt&& ready_at) {
  std::vector<Time> result;
  result.reserve(times.size() - lost.size() + gained.size());
  auto next_lost = lost.begin();
  auto next_gained = gained.begin();
  const auto add_gained = [&] {
    for (; next_gained != gained.end() && *next_gained == result.size(); ++next_gained) {
      result.push_back(ready_at(*next_gained));
    }
  };
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (next_lost != lost.end() && *next_lost == i) {
      ++next_lost;
      continue;
    }
    add_gained();
    result.push_back(times[i]);
  }
  add_gained();
  return result;
}

}  // namespace

void HoldDowns::observe(Time now, const Topology& topology) {
  const TopologyChanges changes = compare(topology_, topology);
  if (!changes.any_lost() && !changes.any_gained()) return;
  if (changes.any_lost()) {
    std::erase_if(losses_, [&](const auto& entry) { return decayed(entry.second, now) == Duration::zero(); });
  }
  for (const MemberIndex member : changes.lost_members) lost(now, item_of(topology_, member));
  for (const std::size_t edge : changes.lost_edges) lost(now, item_of(topology_, topology_.edges[edge]));
  members_ready_at_ = carry_over(members_ready_at_, changes.lost_members, changes.gained_members,
                                 [&](MemberIndex member) { return gained(now, item_of(topology, member)); });
  edges_ready_at_ = carry_over(edges_ready_at_, changes.lost_edges, changes.gained_edges,
                               [&](std::size_t edge) { return gained(now, item_of(topology, topology.edges[edge])); });
  topology_ = topology;
}

void HoldDowns::lost(Time now, const TopologyItem& item) {
  Loss& loss = losses_[item];
  const Duration before = decayed(loss, now);
  loss.hold_down = before == Duration::zero()
                       ? config_.gain_hold_down
                       : std::min(2 * before, std::max(config_.gain_hold_down, config_.gain_hold_down_max));
  loss.lost_at = now;
}

Time HoldDowns::gained(Time now, const TopologyItem& item) const {
  const auto at = losses_.find(item);
  if (at == losses_.end() || decayed(at->second, now) <= config_.gain_hold_down) return now + config_.gain_hold_down;
  // The first moment at which the wait is as long as what the hold-down has fallen to: between these two.
  Duration too_short = config_.gain_hold_down;
  Duration long_enough = decayed(at->second, now);
  while (long_enough - too_short > 1us) {
    const Duration middle = too_short + (long_enough - too_short) / 2;
    (decayed(at->second, now + middle) <= middle ? long_enough : too_short) = middle;
  }
  return now + long_enough;
}

/// Zero once it has fallen below half of the least hold-down: then the past no longer counts.
Duration HoldDowns::decayed(const Loss& loss, Time now) const {
  const Duration half_life = config_.gain_hold_down_max / 2;
  if (half_life <= Duration::zero() || config_.gain_hold_down <= Duration::zero()) return Duration::zero();
  Duration hold_down = loss.hold_down;
  Duration calm = now - loss.lost_at;
  for (; calm >= half_life; calm -= half_life) {
    hold_down /= 2;
    if (hold_down < config_.gain_hold_down / 2) return Duration::zero();
  }
  // On a line from one halving to the next.
  hold_down -=
      std::chrono::microseconds((hold_down / 1us) * (calm / 1us) / std::max<Duration::rep>(half_life / 1us, 1) / 2);
  return hold_down < config_.gain_hold_down / 2 ? Duration::zero() : hold_down;
}

// Suspicions.

void Suspicions::suspect(Time now, const DaemonId& daemon) {
  std::erase_if(records_, [&](const auto& entry) { return entry.second.suspected_at + kMemory < now; });
  Record& record = records_[daemon];
  record.suspected_at = now;
  if (record.next_exclusion == Duration::zero()) {
    record.next_exclusion = kExclusionMin;
    return;
  }
  record.excluded_until = now + record.next_exclusion;
  record.next_exclusion = std::min(2 * record.next_exclusion, kExclusionMax);
}

bool Suspicions::is_excluded(Time now, const DaemonId& daemon) const {
  const auto at = records_.find(daemon);
  return at != records_.end() && now < at->second.excluded_until;
}

Time Suspicions::next_end(Time now) const {
  Time next = kNever;
  for (const auto& [daemon, record] : records_) {
    if (now < record.excluded_until) next = std::min(next, record.excluded_until);
  }
  return next;
}

}  // namespace spindled
