#include "tests/sim/underlay/trees.h"

#include <algorithm>
#include <queue>

namespace spindled::sim::underlay {

std::size_t Tree::depth() const {
  std::size_t deepest = 0;
  std::vector<std::pair<Participant, std::size_t>> open{{root, 0}};
  while (!open.empty()) {
    const auto [at, depth] = open.back();
    open.pop_back();
    deepest = std::max(deepest, depth);
    for (const Participant child : children[at]) open.emplace_back(child, depth + 1);
  }
  return deepest;
}

std::vector<Participant> Tree::subtree(Participant top) const {
  std::vector<Participant> all{top};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& below = children[all[i]];
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

Tree random_tree(std::uint64_t seed, std::size_t participants, std::size_t children_max) {
  Random random(seed);
  Tree tree(participants);
  std::vector<Participant> order;
  for (std::size_t i = 1; i < participants; ++i) order.push_back(static_cast<Participant>(i));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const Participant joining : order) {
    Participant at = tree.root;
    while (tree.children[at].size() >= children_max) at = tree.children[at][random.below(children_max)];
    tree.attach(joining, at);
  }
  return tree;
}

Tree bottleneck_tree(const Topology& topology, Participant root) {
  struct Way {
    double rate;
    Participant from, to;
    bool operator<(const Way& other) const { return rate < other.rate; }
  };
  Tree tree(topology.participants());
  tree.root = root;
  std::vector<std::uint32_t> users(topology.pipes());
  std::vector<bool> is_in(topology.participants());
  const auto rate_of = [&](Participant from, Participant to, double equation) {
    double rate = equation;
    for (const Pipe pipe : topology.path(from, to)) {
      rate = std::min(rate, topology.link_of(pipe).bytes_per_s / (users[pipe] + 1));
    }
    return rate;
  };
  const auto equation = [&](Participant from, Participant to) {
    return tcp_rate(topology.loss(from, to), 2 * topology.delay_s(from, to));
  };
  std::priority_queue<Way> ways;
  const auto add = [&](Participant from) {
    is_in[from] = true;
    for (std::size_t i = 0; i < topology.participants(); ++i) {
      const auto to = static_cast<Participant>(i);
      if (!is_in[to]) ways.push({rate_of(from, to, equation(from, to)), from, to});
    }
  };
  add(root);
  while (!ways.empty()) {
    Way way = ways.top();
    ways.pop();
    if (is_in[way.to]) continue;
    // Rates only fall while the tree grows.
    const double now = rate_of(way.from, way.to, equation(way.from, way.to));
    if (now < way.rate * (1 - 1e-9)) {
      way.rate = now;
      ways.push(way);
      continue;
    }
    tree.attach(way.to, way.from);
    for (const Pipe pipe : topology.path(way.from, way.to)) ++users[pipe];
    add(way.to);
  }
  return tree;
}

}  // namespace spindled::sim::underlay
