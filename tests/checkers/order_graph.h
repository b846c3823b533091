// Whether "before" relations that were seen in different places fit into one order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace spindled::checkers {

class OrderGraph {
 public:
  using Node = std::uint32_t;

  explicit OrderGraph(std::size_t nodes) : nodes_(nodes) {}

  Node add_node() { return static_cast<Node>(nodes_++); }
  void add_edge(Node before, Node after) { edges_.emplace_back(before, after); }

  /// Nodes each of which has to come before the next, and the last before the first; empty where one order fits all.
  std::vector<Node> find_cycle() const;

 private:
  std::size_t nodes_;
  std::vector<std::pair<Node, Node>> edges_;
};

}  // namespace spindled::checkers
