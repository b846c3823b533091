// How long a daemon or link that has come must stay before the view changes for it.
#pragma once

#include <map>
#include <vector>

#include "daemon/base/node_config.h"
#include "daemon/base/time.h"
#include "daemon/overlay/topology.h"
#include "daemon/view/topology_difference.h"

namespace spindled {

/// A daemon or link that has come, and until when the view does not change for it.
struct HeldDown {
  TopologyItem item;
  Time until{};
};

/// Whoever is lost again and again waits longer each time: the hold-down doubles with each loss after the first, from
/// `gain_hold_down` to `gain_hold_down_max`. Without a loss it halves in each half of `gain_hold_down_max`, also while
/// somebody waits for it: the wait is over once it has lasted as long as the hold-down is by then. A daemon is known by
/// its name here, so one that keeps crashing is held down across its lives.
class HoldDowns {
 public:
  explicit HoldDowns(const ViewConfig& config) : config_(config) {}

  /// Call with the topology whenever it may have changed.
  void observe(Time now, const Topology& topology);
  /// When a member or an edge of the topology observed last has stayed long enough; in the past where it is not held
  /// down.
  Time member_ready_at(std::size_t member) const { return members_ready_at_[member]; }
  Time edge_ready_at(std::size_t edge) const { return edges_ready_at_[edge]; }

 private:
  struct Loss {
    Duration hold_down{};  // as of `lost_at`
    Time lost_at{};
  };

  void lost(Time now, const TopologyItem& item);
  Time gained(Time now, const TopologyItem& item) const;
  Duration decayed(const Loss& loss, Time now) const;

  const ViewConfig& config_;
  Topology topology_;  // as to members and edges: weights may be outdated
  std::vector<Time> members_ready_at_;
  std::vector<Time> edges_ready_at_;
  std::map<TopologyItem, Loss> losses_;  // of what went not long ago
};

}  // namespace spindled
