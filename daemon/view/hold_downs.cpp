#include "daemon/view/hold_downs.h"

#include <algorithm>

namespace spindled {

void HoldDowns::observe(Time now, const Topology& topology) {
  if (topology == topology_) return;
  const TopologyDifference changes = difference(topology_, topology);
  topology_ = topology;
  for (const TopologyItem& item : changes.lost) {
    Record& record = records_[item];
    const Duration before = decayed(record, now);
    record.hold_down = before == Duration::zero()
                           ? config_.gain_hold_down
                           : std::min(2 * before, std::max(config_.gain_hold_down, config_.gain_hold_down_max));
    record.lost_at = now;
  }
  for (const TopologyItem& item : changes.gained) {
    Record& record = records_[item];
    record.ready_at = now + std::max(config_.gain_hold_down, decayed(record, now));
  }
  forget_old(now);
}

Time HoldDowns::ready_at(const TopologyItem& item) const {
  const auto at = records_.find(item);
  return at == records_.end() ? Time::min() : at->second.ready_at;
}

/// Zero once it has fallen below the least hold-down: then the past no longer counts.
Duration HoldDowns::decayed(const Record& record, Time now) const {
  Duration hold_down = record.hold_down;
  if (config_.gain_hold_down_max <= Duration::zero()) return Duration::zero();
  for (Duration calm = now - record.lost_at; calm >= config_.gain_hold_down_max; calm -= config_.gain_hold_down_max) {
    hold_down /= 2;
    if (hold_down < config_.gain_hold_down) return Duration::zero();
  }
  return hold_down;
}

/// Some time after it is ready: what is still waited for must not seem to have been ready all along.
void HoldDowns::forget_old(Time now) {
  std::erase_if(records_, [&](const auto& entry) {
    return entry.second.ready_at + config_.gain_hold_down_max <= now && decayed(entry.second, now) == Duration::zero();
  });
}

}  // namespace spindled
