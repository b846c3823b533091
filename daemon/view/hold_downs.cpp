#include "daemon/view/hold_downs.h"

#include <algorithm>
#include <utility>

namespace spindled {

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
  const Duration hold_down = at == losses_.end() ? Duration::zero() : decayed(at->second, now);
  return now + std::max(config_.gain_hold_down, hold_down);
}

/// Zero once it has fallen below the least hold-down: then the past no longer counts.
Duration HoldDowns::decayed(const Loss& loss, Time now) const {
  Duration hold_down = loss.hold_down;
  if (config_.gain_hold_down_max <= Duration::zero()) return Duration::zero();
  for (Duration calm = now - loss.lost_at; calm >= config_.gain_hold_down_max; calm -= config_.gain_hold_down_max) {
    hold_down /= 2;
    if (hold_down < config_.gain_hold_down) return Duration::zero();
  }
  return hold_down;
}

}  // namespace spindled
