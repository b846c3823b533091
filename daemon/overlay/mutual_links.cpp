#include "daemon/overlay/mutual_links.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

namespace {

const AdvertisedLink* link_to(const std::vector<AdvertisedLink>& links, const DaemonId& neighbour) {
  const auto link =
      std::lower_bound(links.begin(), links.end(), neighbour.name,
                       [](const AdvertisedLink& each, const std::string& name) { return each.neighbour < name; });
  const bool found =
      link != links.end() && link->neighbour == neighbour.name && link->neighbour_incarnation == neighbour.incarnation;
  return found ? &*link : nullptr;
}

}  // namespace

void MutualLinks::set(const LinkState& state) {
  const auto found = nodes_.find(state.origin.name);
  Node& node = found == nodes_.end() ? add(state.origin.name) : found->second;
  if (node.id.incarnation != state.origin.incarnation) {
    disconnect_all(node);
    node.links.clear();
    node.id.incarnation = state.origin.incarnation;
  }
  const std::vector<AdvertisedLink> before = std::exchange(node.links, state.links);
  auto old_at = before.begin();
  for (const AdvertisedLink& link : node.links) {
    for (; old_at != before.end() && old_at->neighbour < link.neighbour; ++old_at) disconnect(node, old_at->neighbour);
    const bool is_known = old_at != before.end() && old_at->neighbour == link.neighbour;
    if (!is_known || *old_at != link) connect(node, link);
    if (is_known) ++old_at;
  }
  for (; old_at != before.end(); ++old_at) disconnect(node, old_at->neighbour);
}

void MutualLinks::erase(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return;
  disconnect_all(found->second);
  free_slots_.push_back(found->second.slot);
  nodes_.erase(found);
}

MutualLinks::Node& MutualLinks::add(const std::string& name) {
  Node& node = nodes_[name];
  node.id.name = name;
  if (free_slots_.empty()) {
    node.slot = slots_++;
  } else {
    node.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return node;
}

void MutualLinks::connect(Node& node, const AdvertisedLink& link) {
  const auto found = nodes_.find(link.neighbour);
  const bool is_there = found != nodes_.end() && found->second.id.incarnation == link.neighbour_incarnation;
  const AdvertisedLink* back = is_there ? link_to(found->second.links, node.id) : nullptr;
  if (back == nullptr || &found->second == &node) return disconnect(node, link.neighbour);
  Node& other = found->second;
  const std::uint32_t weight = std::max(link.weight, back->weight);
  const std::uint32_t round_trip_us = std::max(link.round_trip_us, back->round_trip_us);
  put(node, {&other, weight, round_trip_us});
  put(other, {&node, weight, round_trip_us});
}

void MutualLinks::disconnect(Node& node, std::string_view neighbour) {
  const auto at = place_of(node, neighbour);
  if (at == node.neighbours.end() || at->node->id.name != neighbour) return;
  remove(*at->node, node);
  node.neighbours.erase(at);
}

void MutualLinks::disconnect_all(Node& node) {
  for (const Neighbour& neighbour : node.neighbours) remove(*neighbour.node, node);
  node.neighbours.clear();
}

std::vector<MutualLinks::Neighbour>::iterator MutualLinks::place_of(Node& node, std::string_view neighbour) {
  return std::lower_bound(node.neighbours.begin(), node.neighbours.end(), neighbour,
                          [](const Neighbour& each, std::string_view name) { return each.node->id.name < name; });
}

void MutualLinks::put(Node& node, const Neighbour& neighbour) {
  const auto at = place_of(node, neighbour.node->id.name);
  if (at != node.neighbours.end() && at->node == neighbour.node) {
    *at = neighbour;
  } else {
    node.neighbours.insert(at, neighbour);
  }
}

void MutualLinks::remove(Node& node, const Node& neighbour) {
  const auto at = place_of(node, neighbour.id.name);
  SPINDLE_CHECK(at != node.neighbours.end() && at->node == &neighbour);
  node.neighbours.erase(at);
}

std::vector<bool> MutualLinks::reached_from(const Node& start) const {
  std::vector<bool> reached(slots_, false);
  std::vector<const Node*> queue{&start};
  reached[start.slot] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const Neighbour& neighbour : queue[next]->neighbours) {
      if (queue.size() >= kMembersMax) return reached;
      if (reached[neighbour.node->slot]) continue;
      reached[neighbour.node->slot] = true;
      queue.push_back(neighbour.node);
    }
  }
  return reached;
}

Topology MutualLinks::reachable_from(std::string_view name) const {
  const auto start = nodes_.find(name);
  SPINDLE_CHECK(start != nodes_.end());
  const std::vector<bool> reached = reached_from(start->second);
  std::vector<MemberIndex> index(slots_);
  std::vector<const Node*> members;
  std::size_t halves = 0;
  for (const auto& [each, node] : nodes_) {
    if (!reached[node.slot]) continue;
    index[node.slot] = static_cast<MemberIndex>(members.size());
    members.push_back(&node);
    halves += node.neighbours.size();
  }
  Topology topology;
  topology.members.reserve(members.size());
  topology.edges.reserve(halves / 2);
  for (const Node* node : members) {
    topology.members.push_back(node->id);
    const MemberIndex a = index[node->slot];
    for (const Neighbour& neighbour : node->neighbours) {
      const MemberIndex b = index[neighbour.node->slot];
      if (reached[neighbour.node->slot] && a < b) {
        topology.edges.push_back({a, b, neighbour.weight, neighbour.round_trip_us});
      }
    }
  }
  return topology;  // neighbours are sorted by name, as members are, and so the edges by (a, b)
}

}  // namespace spindled
