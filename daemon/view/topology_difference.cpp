#include "daemon/view/topology_difference.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/overlay/view.h"

namespace spindled {

namespace {

using EdgeNames = std::pair<std::string_view, std::string_view>;

EdgeNames names_of(const Topology& topology, const Edge& edge) {
  return {topology.members[edge.a].name, topology.members[edge.b].name};
}

TopologyItem item_of(const EdgeNames& names) { return {std::string(names.first), std::string(names.second)}; }

void compare_members(const Topology& before, const Topology& after, TopologyDifference& result) {
  auto old_at = before.members.begin();
  auto new_at = after.members.begin();
  while (old_at != before.members.end() || new_at != after.members.end()) {
    if (new_at == after.members.end() || (old_at != before.members.end() && *old_at < *new_at)) {
      result.lost.push_back({(old_at++)->name, {}});
    } else if (old_at == before.members.end() || *new_at < *old_at) {
      result.gained.push_back({(new_at++)->name, {}});
    } else {
      ++old_at;
      ++new_at;
    }
  }
}

/// Members are sorted by name and edges by index, so edges are sorted by the names of their ends.
void compare_edges(const Topology& before, const Topology& after, TopologyDifference& result) {
  auto old_at = before.edges.begin();
  auto new_at = after.edges.begin();
  while (old_at != before.edges.end() || new_at != after.edges.end()) {
    const EdgeNames old_names = old_at == before.edges.end() ? EdgeNames() : names_of(before, *old_at);
    const EdgeNames new_names = new_at == after.edges.end() ? EdgeNames() : names_of(after, *new_at);
    if (new_at == after.edges.end() || (old_at != before.edges.end() && old_names < new_names)) {
      result.lost.push_back(item_of(old_names));
      ++old_at;
    } else if (old_at == before.edges.end() || new_names < old_names) {
      result.gained.push_back(item_of(new_names));
      ++new_at;
    } else {
      result.reweighed = result.reweighed || old_at->weight != new_at->weight;
      ++old_at;
      ++new_at;
    }
  }
}

std::vector<std::vector<MemberIndex>> neighbours_of(std::size_t members, const std::vector<Edge>& edges) {
  std::vector<std::vector<MemberIndex>> neighbours(members);
  for (const Edge& edge : edges) {
    neighbours[edge.a].push_back(edge.b);
    neighbours[edge.b].push_back(edge.a);
  }
  return neighbours;
}

/// Marks up to kMembersMax members that `start` reaches, the nearest first.
std::vector<bool> reached_from(MemberIndex start, std::vector<bool> closed, const std::vector<Edge>& edges) {
  const auto neighbours = neighbours_of(closed.size(), edges);
  std::vector<bool> reached(closed.size(), false);
  std::vector<MemberIndex> queue{start};
  reached[start] = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const MemberIndex next : neighbours[queue[at]]) {
      if (closed[next] || reached[next] || queue.size() == kMembersMax) continue;
      reached[next] = true;
      queue.push_back(next);
    }
  }
  return reached;
}

}  // namespace

TopologyDifference difference(const Topology& before, const Topology& after) {
  TopologyDifference result;
  compare_members(before, after, result);
  compare_edges(before, after, result);
  return result;
}

Topology component_of(const Topology& topology, const DaemonId& self,
                      const std::function<bool(const DaemonId&)>& excluded) {
  const std::optional<MemberIndex> start = index_in(topology.members, self);
  SPINDLE_CHECK(start.has_value());
  std::vector<bool> closed;
  for (const DaemonId& member : topology.members) closed.push_back(excluded(member));
  const std::vector<bool> reached = reached_from(*start, std::move(closed), topology.edges);

  Topology component;
  std::vector<MemberIndex> index(topology.members.size());
  for (std::size_t i = 0; i < topology.members.size(); ++i) {
    if (!reached[i]) continue;
    index[i] = static_cast<MemberIndex>(component.members.size());
    component.members.push_back(topology.members[i]);
  }
  for (const Edge& edge : topology.edges) {
    if (!reached[edge.a] || !reached[edge.b]) continue;
    component.edges.push_back({index[edge.a], index[edge.b], edge.weight, edge.round_trip_us});
  }
  return component;
}

bool is_connected(std::size_t members, const std::vector<Edge>& edges) {
  if (members == 0) return false;
  const std::vector<bool> reached = reached_from(0, std::vector<bool>(members, false), edges);
  return std::find(reached.begin(), reached.end(), false) == reached.end();
}

}  // namespace spindled
