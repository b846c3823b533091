// What distinguishes two topologies, and which part of one can be reached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/overlay/topology.h"

namespace spindled {

/// What distinguishes two topologies, by place: what is lost in the one before, what is gained in the one after, both
/// in ascending order. A daemon that has restarted is both lost and gained; its links, which go by name, are not.
struct TopologyChanges {
  std::vector<MemberIndex> lost_members;
  std::vector<MemberIndex> gained_members;
  std::vector<std::size_t> lost_edges;
  std::vector<std::size_t> gained_edges;
  bool reweighed = false;  // a link that is in both has another weight

  bool any_lost() const { return !lost_members.empty() || !lost_edges.empty(); }
  bool any_gained() const { return !gained_members.empty() || !gained_edges.empty(); }
};

TopologyChanges compare(const Topology& before, const Topology& after);

/// A daemon, or the link between two.
struct TopologyItem {
  std::string a;
  std::string b;  // empty for a daemon

  auto operator<=>(const TopologyItem&) const = default;
};

TopologyItem item_of(const Topology& topology, MemberIndex member);
TopologyItem item_of(const Topology& topology, const Edge& edge);

/// The same by name: daemons first, then links.
struct TopologyDifference {
  std::vector<TopologyItem> lost;
  std::vector<TopologyItem> gained;
  bool reweighed = false;

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
