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
  const TopologyChanges changes = compare(view_, reachable);
  keep_while(changes.any_lost(), now, lost_since_);
  keep_while(changes.any_gained(), now, gained_since_);
  keep_while(changes.reweighed, now, reweighed_since_);
  if (lost_since_) return *lost_since_;
  if (gained_since_) {
    Time due = *gained_since_;
    for (const MemberIndex member : changes.gained_members) due = std::max(due, hold_downs.member_ready_at(member));
    for (const std::size_t edge : changes.gained_edges) due = std::max(due, hold_downs.edge_ready_at(edge));
    return due;
  }
  if (reweighed_since_) return *reweighed_since_ + config.reroute_delay;
  return kNever;
}

}  // namespace spindled
