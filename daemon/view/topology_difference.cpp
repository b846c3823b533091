#include "daemon/view/topology_difference.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "daemon/base/check.h"
#include "daemon/overlay/view.h"

namespace spindled {

namespace {

/// By member, its place among the names of both topologies together. Comparing edges by these is comparing them by the
/// names of their ends, for members are sorted by name and edges by member.
struct Places {
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> after;
};

Places compare_members(const Topology& before, const Topology& after, TopologyChanges& changes) {
  Places places;
  places.before.reserve(before.members.size());
  places.after.reserve(after.members.size());
  std::uint32_t place = 0;
  while (places.before.size() < before.members.size() || places.after.size() < after.members.size()) {
    const auto old_at = static_cast<MemberIndex>(places.before.size());
    const auto new_at = static_cast<MemberIndex>(places.after.size());
    const bool has_old = old_at < before.members.size();
    const bool has_new = new_at < after.members.size();
    int order = has_old ? -1 : 1;
    if (has_old && has_new) order = before.members[old_at].name.compare(after.members[new_at].name);
    const bool restarted = order == 0 && before.members[old_at].incarnation != after.members[new_at].incarnation;
    if (order < 0 || restarted) changes.lost_members.push_back(old_at);
    if (order > 0 || restarted) changes.gained_members.push_back(new_at);
    if (order <= 0) places.before.push_back(place);
    if (order >= 0) places.after.push_back(place);
    ++place;
  }
  return places;
}

void compare_edges(const Topology& before, const Topology& after, const Places& places, TopologyChanges& changes) {
  const auto ends_of = [](const Edge& edge, const std::vector<std::uint32_t>& place) {
    return std::uint64_t{place[edge.a]} << 32 | place[edge.b];
  };
  constexpr auto kEnd = std::numeric_limits<std::uint64_t>::max();
  std::size_t old_at = 0;
  std::size_t new_at = 0;
  while (old_at < before.edges.size() || new_at < after.edges.size()) {
    const std::uint64_t old_ends = old_at < before.edges.size() ? ends_of(before.edges[old_at], places.before) : kEnd;
    const std::uint64_t new_ends = new_at < after.edges.size() ? ends_of(after.edges[new_at], places.after) : kEnd;
    if (old_ends < new_ends) {
      changes.lost_edges.push_back(old_at++);
    } else if (new_ends < old_ends) {
      changes.gained_edges.push_back(new_at++);
    } else {
      // In a tree there is one path between any two, whatever it costs.
      const bool has_choice = after.edges.size() >= after.members.size();
      changes.reweighed =
          changes.reweighed || (has_choice && before.edges[old_at].weight != after.edges[new_at].weight);
      ++old_at;
      ++new_at;
    }
  }
}

std::vector<TopologyItem> items_of(const Topology& topology, const std::vector<MemberIndex>& members,
                                   const std::vector<std::size_t>& edges) {
  std::vector<TopologyItem> items;
  items.reserve(members.size() + edges.size());
  for (const MemberIndex member : members) items.push_back(item_of(topology, member));
  for (const std::size_t edge : edges) items.push_back(item_of(topology, topology.edges[edge]));
  return items;
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

TopologyChanges compare(const Topology& before, const Topology& after) {
  TopologyChanges changes;
  const Places places = compare_members(before, after, changes);
  compare_edges(before, after, places, changes);
  return changes;
}

TopologyItem item_of(const Topology& topology, MemberIndex member) { return {topology.members[member].name, {}}; }

TopologyItem item_of(const Topology& topology, const Edge& edge) {
  return {topology.members[edge.a].name, topology.members[edge.b].name};
}

TopologyDifference difference(const Topology& before, const Topology& after) {
  const TopologyChanges changes = compare(before, after);
  return {items_of(before, changes.lost_members, changes.lost_edges),
          items_of(after, changes.gained_members, changes.gained_edges), changes.reweighed};
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
