#include "daemon/overlay/mutual_links.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled {

namespace {

std::pair<std::string_view, std::uint64_t> key_of(const DaemonId& id) { return {id.name, id.incarnation}; }

const AdvertisedLink* link_to(const std::vector<AdvertisedLink>& links, const DaemonId& neighbour) {
  const auto link = std::lower_bound(links.begin(), links.end(), key_of(neighbour),
                                     [](const AdvertisedLink& each, const auto& key) { return key_of(each) < key; });
  return link != links.end() && key_of(*link) == key_of(neighbour) ? &*link : nullptr;
}

}  // namespace

void MutualLinks::set(const LinkState& state) {
  const auto found = nodes_.find(state.origin);
  Node& node = found == nodes_.end() ? add(state.origin) : found->second;
  const std::vector<AdvertisedLink> before = std::exchange(node.links, state.links);
  auto old_at = before.begin();
  for (const AdvertisedLink& link : node.links) {
    for (; old_at != before.end() && key_of(*old_at) < key_of(link); ++old_at) disconnect(node, *old_at);
    const bool is_known = old_at != before.end() && key_of(*old_at) == key_of(link);
    if (!is_known || *old_at != link) connect(node, link);
    if (is_known) ++old_at;
  }
  for (; old_at != before.end(); ++old_at) disconnect(node, *old_at);
}

void MutualLinks::erase(const DaemonId& id) {
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return;
  disconnect_all(found->second);
  free_slots_.push_back(found->second.slot);
  nodes_.erase(found);
}

MutualLinks::Node& MutualLinks::add(const DaemonId& id) {
  Node& node = nodes_[id];
  node.id = id;
  if (free_slots_.empty()) {
    node.slot = slots_++;
  } else {
    node.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return node;
}

void MutualLinks::connect(Node& node, const AdvertisedLink& link) {
  const auto found = nodes_.find({link.neighbour, link.neighbour_incarnation});
  const AdvertisedLink* back = found != nodes_.end() ? link_to(found->second.links, node.id) : nullptr;
  if (back == nullptr || &found->second == &node) return disconnect(node, link);
  Node& other = found->second;
  const std::uint32_t weight = std::max(link.weight, back->weight);
  const std::uint32_t round_trip_us = std::max(link.round_trip_us, back->round_trip_us);
  put(node, {&other, weight, round_trip_us});
  put(other, {&node, weight, round_trip_us});
}

void MutualLinks::disconnect(Node& node, const AdvertisedLink& link) {
  const auto at = place_of(node, key_of(link));
  if (at == node.neighbours.end() || key_of(at->node->id) != key_of(link)) return;
  remove(*at->node, node);
  node.neighbours.erase(at);
}

void MutualLinks::disconnect_all(Node& node) {
  for (const Neighbour& neighbour : node.neighbours) remove(*neighbour.node, node);
  node.neighbours.clear();
}

std::vector<MutualLinks::Neighbour>::iterator MutualLinks::place_of(
    Node& node, std::pair<std::string_view, std::uint64_t> neighbour) {
  return std::lower_bound(node.neighbours.begin(), node.neighbours.end(), neighbour,
                          [](const Neighbour& each, const auto& key) { return key_of(each.node->id) < key; });
}

void MutualLinks::put(Node& node, const Neighbour& neighbour) {
  const auto at = place_of(node, key_of(neighbour.node->id));
  if (at != node.neighbours.end() && at->node == neighbour.node) {
    *at = neighbour;
  } else {
    node.neighbours.insert(at, neighbour);
  }
}

void MutualLinks::remove(Node& node, const Node& neighbour) {
  const auto at = place_of(node, key_of(neighbour.id));
  SPINDLE_CHECK(at != node.neighbours.end() && at->node == &neighbour);
  node.neighbours.erase(at);
}

MutualLinks::Slots MutualLinks::reached_from(std::vector<const Node*> queue, const Slots& closed) const {
  Slots reached(slots_, false);
  for (const Node* start : queue) reached[start->slot] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const Neighbour& neighbour : queue[next]->neighbours) {
      if (queue.size() >= kMembersMax) return reached;
      if (reached[neighbour.node->slot] || closed[neighbour.node->slot]) continue;
      reached[neighbour.node->slot] = true;
      queue.push_back(neighbour.node);
    }
  }
  return reached;
}

MutualLinks::Slots MutualLinks::outdone(const Slots& reached, const DaemonId& self) const {
  Slots outdone;
  const Node* before = nullptr;
  for (const auto& [id, node] : nodes_) {
    if (!reached[node.slot]) continue;
    if (before != nullptr && before->id.name == id.name) {
      if (outdone.empty()) outdone.resize(slots_, false);
      outdone[before->id == self ? node.slot : before->slot] = true;
      if (before->id == self) continue;
    }
    before = &node;
  }
  return outdone;
}

std::optional<DaemonId> MutualLinks::namesake_of(const DaemonId& self, const std::vector<DaemonId>& starts) const {
  std::vector<const Node*> namesakes;
  for (auto at = nodes_.lower_bound({self.name, 0}); at != nodes_.end() && at->first.name == self.name; ++at) {
    if (at->first != self) namesakes.push_back(&at->second);
  }
  if (namesakes.empty()) return std::nullopt;
  std::vector<const Node*> from;
  for (const DaemonId& start : starts) {
    if (const auto found = nodes_.find(start); found != nodes_.end()) from.push_back(&found->second);
  }
  Slots closed(slots_, false);
  if (const auto own = nodes_.find(self); own != nodes_.end()) closed[own->second.slot] = true;
  const Slots reached = reached_from(std::move(from), closed);
  std::optional<DaemonId> namesake;
  for (const Node* each : namesakes) {
    if (reached[each->slot]) namesake = each->id;
  }
  return namesake;
}

Topology MutualLinks::reachable_from(const DaemonId& self) const {
  const auto start = nodes_.find(self);
  SPINDLE_CHECK(start != nodes_.end());
  Slots reached = reached_from({&start->second}, Slots(slots_, false));
  if (const Slots closed = outdone(reached, self); !closed.empty()) reached = reached_from({&start->second}, closed);
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
  return topology;  // neighbours are sorted as members are, and so the edges by (a, b)
}

}  // namespace spindled
