// The links that both of their ends tell of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/overlay/topology.h"

namespace spindled {

/// Advertisements as a graph. An edge is a link that both ends advertise with each other's present incarnation; it has
/// the larger of its ends' weights and round-trip times. The graph is kept as advertisements come, at a cost that goes
/// with the links that an advertisement changes: to walk it compares no names.
class MutualLinks {
 public:
  MutualLinks() = default;
  MutualLinks(const MutualLinks&) = delete;
  MutualLinks& operator=(const MutualLinks&) = delete;

  /// Replaces what is known of the daemon; its links are sorted by neighbour.
  void set(const LinkState& state);
  void erase(std::string_view name);

  /// The daemons that `name`, which is known, reaches, itself included, and the edges between them. At most kMembersMax
  /// daemons, the nearest by hops where there are more.
  Topology reachable_from(std::string_view name) const;

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
    std::vector<Neighbour> neighbours;  // over edges, sorted by name
  };

  Node& add(const std::string& name);
  /// Sets or removes the edge that `link` of `node` may be half of.
  void connect(Node& node, const AdvertisedLink& link);
  void disconnect(Node& node, std::string_view neighbour);
  void disconnect_all(Node& node);
  static std::vector<Neighbour>::iterator place_of(Node& node, std::string_view neighbour);
  static void put(Node& node, const Neighbour& neighbour);
  static void remove(Node& node, const Node& neighbour);
  /// By slot.
  std::vector<bool> reached_from(const Node& start) const;

  std::map<std::string, Node, std::less<>> nodes_;  // pointers to nodes stay valid until they are erased
  std::vector<std::size_t> free_slots_;
  std::size_t slots_ = 0;
};

}  // namespace spindled
