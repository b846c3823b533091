// The links that both of their ends tell of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/overlay/topology.h"

namespace spindled {

/// Advertisements as a graph. A node is a daemon in one of its lives: those of one name stand side by side. An edge is
/// a link that both ends advertise with each other's incarnation; it has the larger of its ends' weights and round-trip
/// times. The graph is kept as advertisements come, at a cost that goes with the links that an advertisement changes:
/// to walk it compares no names.
class MutualLinks {
 public:
  MutualLinks() = default;
  MutualLinks(const MutualLinks&) = delete;
  MutualLinks& operator=(const MutualLinks&) = delete;

  /// Replaces what is known of the daemon in this life; its links are sorted.
  void set(const LinkState& state);
  void erase(const DaemonId& id);

  /// The daemons that `self`, which is known, reaches, itself included, and the edges between them. At most kMembersMax
  /// daemons, the nearest by hops where there are more. Of several that go by one name only the one with the largest
  /// incarnation counts, which is the same one to all who see them all, and nobody is reached through the others.
  Topology reachable_from(const DaemonId& self) const;
  /// Of the daemons other than `self` that go by its name and are reached from any of `starts`, the one with the
  /// largest incarnation.
  std::optional<DaemonId> namesake_of(const DaemonId& self, const std::vector<DaemonId>& starts) const;

 private:
  struct Node;
  struct Neighbour {
    Node* node = nullptr;
    std::uint32_t weight = 1;
    std::uint32_t round_trip_us = 0;
  };
  struct Node {
    DaemonId id;
    std::size_t slot = 0;  // unique among the nodes there are
    std::vector<AdvertisedLink> links;
    std::vector<Neighbour> neighbours;  // over edges, sorted as daemons are
  };

  Node& add(const DaemonId& id);
  /// Sets or removes the edge that `link` of `node` may be half of.
  void connect(Node& node, const AdvertisedLink& link);
  void disconnect(Node& node, const AdvertisedLink& link);
  void disconnect_all(Node& node);
  static std::vector<Neighbour>::iterator place_of(Node& node, std::pair<std::string_view, std::uint64_t> neighbour);
  static void put(Node& node, const Neighbour& neighbour);
  static void remove(Node& node, const Node& neighbour);
  using Slots = std::vector<bool>;
  /// Without passing one that is `closed`.
  Slots reached_from(std::vector<const Node*> starts, const Slots& closed) const;
  /// Those reached that have to give way to another of the same name.
  Slots outdone(const Slots& reached, const DaemonId& self) const;

  std::map<DaemonId, Node> nodes_;  // pointers to nodes stay valid until they are erased
  std::vector<std::size_t> free_slots_;
  std::size_t slots_ = 0;
};

}  // namespace spindled
