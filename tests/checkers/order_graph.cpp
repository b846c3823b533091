#include "tests/checkers/order_graph.h"

#include <algorithm>

namespace spindled::checkers {

std::vector<OrderGraph::Node> OrderGraph::find_cycle() const {
  // Take away, again and again, what nothing has to come before (Kahn): what is left lies on cycles or behind them.
  std::vector<std::uint32_t> first(nodes_ + 1, 0);
  std::vector<std::uint32_t> waiting(nodes_, 0);
  for (const auto& [before, after] : edges_) {
    ++first[before + 1];
    ++waiting[after];
  }
  for (std::size_t i = 0; i < nodes_; ++i) first[i + 1] += first[i];
  std::vector<Node> targets(edges_.size());
  std::vector<std::uint32_t> filled(first.begin(), first.end() - 1);
  for (const auto& [before, after] : edges_) targets[filled[before]++] = after;

  std::vector<Node> ready;
  for (std::size_t i = 0; i < nodes_; ++i) {
    if (waiting[i] == 0) ready.push_back(static_cast<Node>(i));
  }
  std::size_t taken = 0;
  while (taken < ready.size()) {
    const Node node = ready[taken++];
    for (std::uint32_t i = first[node]; i < first[node + 1]; ++i) {
      if (--waiting[targets[i]] == 0) ready.push_back(targets[i]);
    }
  }
  if (taken == nodes_) return {};

  // Each of what is left waits for another of them: going back from one to the next ends up on a cycle.
  std::vector<Node> one_before(nodes_, 0);
  Node at = 0;
  for (const auto& [before, after] : edges_) {
    if (waiting[before] == 0 || waiting[after] == 0) continue;
    one_before[after] = before;
    at = after;
  }
  for (std::size_t i = 0; i < nodes_; ++i) at = one_before[at];
  std::vector<Node> cycle;
  const Node start = at;
  do {
    cycle.push_back(at);
    at = one_before[at];
  } while (at != start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace spindled::checkers
