// Trees of participants, made with all that there is to know of the network, or with nothing.
#pragma once

#include <optional>
#include <vector>

#include "tests/sim/underlay/topology.h"

namespace spindled::sim::underlay {

struct Tree {
  Participant root = 0;
  std::vector<std::optional<Participant>> parents;
  std::vector<std::vector<Participant>> children;

  explicit Tree(std::size_t participants) : parents(participants), children(participants) {}
  void attach(Participant child, Participant parent) {
    parents[child] = parent;
    children[parent].push_back(child);
  }
  std::size_t depth() const;
  /// All below it, and itself.
  std::vector<Participant> subtree(Participant top) const;
};

/// Participants join in a random order. One that has as many children as it may sends who comes next to one of them.
Tree random_tree(std::uint64_t seed, std::size_t participants, std::size_t children_max);

/// The greedy bottleneck tree of the paper's section 4.1: of all ways from the tree to who is not in it yet the one
/// with the highest rate is taken, where a way has the least of TCP's rate on it and, of each of its pipes, an equal
/// share for each way of the tree that goes through it.
Tree bottleneck_tree(const Topology& topology, Participant root);

}  // namespace spindled::sim::underlay
