#include "daemon/view/steady.h"

#include <algorithm>

namespace spindled {

namespace {

void keep_while(bool condition, Time now, std::optional<Time>& since) {
  if (!condition) {
    since.reset();
  } else if (!since) {
    since = now;
  }
}

}  // namespace

Time Steady::change_due(Time now, const Topology& reachable, const HoldDowns& hold_downs, const ViewConfig& config) {
  const TopologyDifference differs = difference(view_, reachable);
  keep_while(!differs.lost.empty(), now, lost_since_);
  keep_while(!differs.gained.empty(), now, gained_since_);
  keep_while(differs.reweighed, now, reweighed_since_);
  if (lost_since_) return *lost_since_;
  if (gained_since_) {
    Time due = *gained_since_;
    for (const TopologyItem& item : differs.gained) due = std::max(due, hold_downs.ready_at(item));
    return due;
  }
  if (reweighed_since_) return *reweighed_since_ + config.reroute_delay;
  return kNever;
}

}  // namespace spindled
