#include "tests/sim/graphs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "daemon/base/check.h"
#include "daemon/overlay/shortest_paths.h"

namespace spindled::sim {

namespace {

struct Point {
  double x = 0;
  double y = 0;
};

struct Link {
  MemberIndex a = 0;
  MemberIndex b = 0;
  Duration delay{};
  EdgeKind kind{};
};

class Builder {
 public:
  Builder(Random& random, const GraphDelays& delays) : random_(random), delays_(delays) {}

  MemberIndex add_node(Point at = {}) {
    points_.push_back(at);
    return static_cast<MemberIndex>(points_.size() - 1);
  }
  Point somewhere(double width = 1) { return {width * random_.real(), width * random_.real()}; }
  void join(MemberIndex a, MemberIndex b, EdgeKind kind, double stretch = 1) {
    const double length = std::hypot(points_[a].x - points_[b].x, points_[a].y - points_[b].y);
    const bool has_length = kind != EdgeKind::access && delays_.across != Duration::zero();
    const Duration delay = has_length ? from_seconds(stretch * length * to_seconds(delays_.across)) : delays_.access;
    links_.push_back({std::min(a, b), std::max(a, b), std::max<Duration>(delay, 100us), kind});
  }
  /// Links between each two of the nodes with that probability, all of which are reached.
  void mesh(const std::vector<MemberIndex>& nodes, double probability, EdgeKind kind) {
    const std::size_t before = links_.size();
    do {
      links_.resize(before);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::size_t j = i + 1; j < nodes.size(); ++j) {
          if (random_.chance(probability)) join(nodes[i], nodes[j], kind);
        }
      }
    } while (!is_connected(nodes, before));
  }
  /// The source and receivers, at some of the nodes.
  void attach(Graph& graph, Random& places, const std::vector<MemberIndex>& nodes, std::size_t receivers) {
    const auto add = [&] {
      const MemberIndex leaf = add_node();
      join(nodes[places.below(nodes.size())], leaf, EdgeKind::access);
      return leaf;
    };
    graph.source = add();
    for (std::size_t i = 0; i < receivers; ++i) graph.receivers.push_back(add());
  }
  Graph finish(Graph graph) {
    std::sort(links_.begin(), links_.end(),
              [](const Link& x, const Link& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
    graph.nodes = points_.size();
    for (const Link& link : links_) {
      const auto us = static_cast<std::uint32_t>(link.delay / 1us);
      graph.edges.push_back({link.a, link.b, us, 2 * us});
      graph.kinds.push_back(link.kind);
    }
    return graph;
  }

 private:
  bool is_connected(const std::vector<MemberIndex>& nodes, std::size_t first_link) const {
    std::vector<MemberIndex> group(points_.size());
    std::iota(group.begin(), group.end(), MemberIndex{0});
    for (std::size_t i = first_link; i < links_.size(); ++i) {
      std::replace(group.begin(), group.end(), MemberIndex(group[links_[i].b]), MemberIndex(group[links_[i].a]));
    }
    return std::all_of(nodes.begin(), nodes.end(), [&](MemberIndex each) { return group[each] == group[nodes[0]]; });
  }

  Random& random_;
  const GraphDelays delays_;
  std::vector<Point> points_;
  std::vector<Link> links_;
};

}  // namespace

std::size_t Graph::edge_of(MemberIndex a, MemberIndex b) const {
  const auto [low, high] = std::minmax(a, b);
  const auto found = std::find_if(edges.begin(), edges.end(), [low = low, high = high](const Edge& edge) {
    return edge.a == low && edge.b == high;
  });
  SPINDLE_CHECK(found != edges.end());
  return static_cast<std::size_t>(found - edges.begin());
}

Graph random_graph(Random& random, Random& places, std::size_t routers, double probability, std::size_t receivers,
                   const GraphDelays& delays) {
  Builder builder(random, delays);
  std::vector<MemberIndex> nodes;
  for (std::size_t i = 0; i < routers; ++i) nodes.push_back(builder.add_node(builder.somewhere()));
  builder.mesh(nodes, probability, EdgeKind::router);
  Graph graph;
  builder.attach(graph, places, nodes, receivers);
  return builder.finish(std::move(graph));
}

Graph binary_tree(unsigned height, const GraphDelays& delays) {
  Random unused(1);
  Builder builder(unused, delays);
  Graph graph;
  graph.source = builder.add_node();
  const std::size_t nodes = (std::size_t{2} << height) - 1;
  for (std::size_t i = 1; i < nodes; ++i) {
    const MemberIndex node = builder.add_node();
    builder.join(static_cast<MemberIndex>((i - 1) / 2), node, EdgeKind::access);
    if (2 * i + 1 >= nodes) graph.receivers.push_back(node);
  }
  return builder.finish(std::move(graph));
}

Graph transit_stub_graph(Random& random, Random& places, std::size_t receivers, const GraphDelays& delays) {
  constexpr std::size_t kTransitNodes = 4, kStubsEach = 3, kStubNodes = 8;
  constexpr double kTransitLinks = 0.6, kStubLinks = 0.42, kStubWidth = 0.25;
  Builder builder(random, delays);
  std::vector<MemberIndex> transit, in_stubs;
  std::vector<Point> centres;
  for (std::size_t i = 0; i < kTransitNodes; ++i) {
    centres.push_back(builder.somewhere());
    transit.push_back(builder.add_node(centres.back()));
  }
  builder.mesh(transit, kTransitLinks, EdgeKind::transit);
  for (std::size_t i = 0; i < kTransitNodes; ++i) {
    for (std::size_t stub = 0; stub < kStubsEach; ++stub) {
      std::vector<MemberIndex> nodes;
      for (std::size_t j = 0; j < kStubNodes; ++j) {
        const Point offset = builder.somewhere(kStubWidth);
        nodes.push_back(builder.add_node({centres[i].x + offset.x, centres[i].y + offset.y}));
      }
      builder.mesh(nodes, kStubLinks, EdgeKind::stub);
      builder.join(transit[i], nodes[random.below(nodes.size())], EdgeKind::transit_stub);
      in_stubs.insert(in_stubs.end(), nodes.begin(), nodes.end());
    }
  }
  Graph graph;
  builder.attach(graph, places, in_stubs, receivers);
  return builder.finish(std::move(graph));
}

}  // namespace spindled::sim
