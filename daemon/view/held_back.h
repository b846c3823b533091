// Daemons and links that are there and that views do without for now: those that have just come, and those that do not
// answer.
#pragma once

#include <map>
#include <vector>

#include "daemon/base/node_config.h"
#include "daemon/base/time.h"
#include "daemon/overlay/topology.h"
#include "daemon/view/topology_difference.h"
#include "daemon/wire/control.h"

namespace spindled {

/// A daemon or link that has come, and until when the view does not change for it.
struct HeldDown {
  TopologyItem item;
  Time until{};
};

/// How long a daemon or link that has come must stay before the view changes for it. Whoever is lost again and again
/// waits longer each time: the hold-down doubles with each loss after the first, from `gain_hold_down` to
/// `gain_hold_down_max`. Without a loss it halves in each half of `gain_hold_down_max`, also while somebody waits for
/// it: the wait is over once it has lasted as long as the hold-down is by then. A daemon is known by its name here, so
/// one that keeps crashing is held down across its lives.
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

/// Daemons that are reachable, by what links report, and yet do not take part in a view change. A daemon that fails to
/// answer once is given another chance, for its answer may have been lost with a link that came back at once. From the
/// second time on it is excluded: for 1 s, doubling up to 10 s, until it takes part in a view.
class Suspicions {
 public:
  static constexpr Duration kExclusionMin = 1s;
  static constexpr Duration kExclusionMax = 10s;

  void suspect(Time now, const DaemonId& daemon);
  void clear(const DaemonId& daemon) { records_.erase(daemon); }

  bool is_excluded(Time now, const DaemonId& daemon) const;
  /// When the next exclusion ends; kNever if there is none.
  Time next_end(Time now) const;

 private:
  /// A daemon that has not been suspected for this long starts afresh.
  static constexpr Duration kMemory = 60s;

  struct Record {
    Time suspected_at{};
    Time excluded_until = Time::min();
    Duration next_exclusion{};  // zero: the next silence is the first
  };

  std::map<DaemonId, Record> records_;
};

}  // namespace spindled
