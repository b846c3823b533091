// What distinguishes two topologies, and which part of one can be reached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/overlay/topology.h"

namespace spindled {

/// A daemon, or the link between two.
struct TopologyItem {
  std::string a;
  std::string b;  // empty for a daemon

  auto operator<=>(const TopologyItem&) const = default;
};

struct TopologyDifference {
  std::vector<TopologyItem> lost;  // a daemon that has restarted is both lost and gained
  std::vector<TopologyItem> gained;
  bool reweighed = false;  // a link that is in both has another weight

  bool operator==(const TopologyDifference&) const = default;
};

TopologyDifference difference(const Topology& before, const Topology& after);

/// The part of `topology` that its member `self` reaches without passing a daemon that `excluded` holds for, at most
/// kMembersMax daemons of it.
Topology component_of(const Topology& topology, const DaemonId& self,
                      const std::function<bool(const DaemonId&)>& excluded);

/// Whether `edges`, whose indices are below `members`, connect all of these.
bool is_connected(std::size_t members, const std::vector<Edge>& edges);

}  // namespace spindled
