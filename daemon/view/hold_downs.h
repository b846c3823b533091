// How long a daemon or link that has come must stay before the view changes for it.
#pragma once

#include <map>

#include "daemon/base/time.h"
#include "daemon/base/node_config.h"
#include "daemon/overlay/topology.h"
#include "daemon/view/topology_difference.h"

namespace spindled {

/// Whoever is lost again and again waits longer each time: the hold-down doubles with each loss after the first, from
/// `gain_hold_down` to `gain_hold_down_max`, and halves again for each `gain_hold_down_max` without a loss. A daemon is
/// known by its name here, so one that keeps crashing is held down across its lives.
class HoldDowns {
 public:
  explicit HoldDowns(const ViewConfig& config) : config_(config) {}

  /// Call with the topology whenever it may have changed.
  void observe(Time now, const Topology& topology);
  /// When `item`, which is in the topology, has stayed long enough; in the past where it is not held down.
  Time ready_at(const TopologyItem& item) const;

 private:
  struct Record {
    Time ready_at = Time::min();
    Duration hold_down{};  // as of `lost_at`; zero: never lost
    Time lost_at{};
  };

  Duration decayed(const Record& record, Time now) const;
  void forget_old(Time now);

  const ViewConfig& config_;
  Topology topology_;
  std::map<TopologyItem, Record> records_;  // of what came or went not long ago
};

}  // namespace spindled
