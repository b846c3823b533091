#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/order_graph.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

using Stay = DaemonIndex::Stay;
using View = DaemonIndex::View;

/// "Before" as the specification defines it: what a daemon handed up or originated comes before what it originates
/// next, and so on from daemon to daemon. Between two messages originated by one daemon there is a node for the point
/// in time, so that the graph grows with the number of deliveries and not with its square.
OrderGraph make_causal_graph(const View& view, const std::vector<const Stay*>& stays) {
  OrderGraph graph(view.messages.size());
  for (const Stay* stay : stays) {
    OrderGraph::Node now = graph.add_node();
    for (const DaemonIndex::Deed& deed : stay->deeds) {
      if (!is_ordered(view.messages[deed.message].service())) continue;
      if (deed.handed_up != nullptr) {
        graph.add_edge(deed.message, now);
        continue;
      }
      graph.add_edge(now, deed.message);
      const OrderGraph::Node next = graph.add_node();
      graph.add_edge(now, next);
      graph.add_edge(deed.message, next);
      now = next;
    }
  }
  return graph;
}

void add_order_of(const View& view, const Stay& stay, bool transitional, OrderGraph& graph) {
  const DaemonIndex::Deed* before = nullptr;
  for (const DaemonIndex::Deed& deed : stay.deeds) {
    if (deed.handed_up == nullptr || (deed.transitional && !transitional)) continue;
    if (!is_ordered(view.messages[deed.message].service())) continue;
    if (before != nullptr) graph.add_edge(before->message, deed.message);
    before = &deed;
  }
}

void check(const DaemonIndex& index, const View& view, const OrderGraph& graph, const char* where,
           Violations& violations) {
  std::vector<OrderGraph::Node> messages;
  for (const OrderGraph::Node node : graph.find_cycle()) {
    if (node < view.messages.size()) messages.push_back(node);
  }
  if (messages.empty()) return;
  report(violations, fmt::format("causality: {} was handed up before {}, on which it depends{}, by way of {} messages",
                                 index.to_text(view, messages.front()),
                                 index.to_text(view, messages[1 % messages.size()]), where, messages.size()));
}

}  // namespace

Violations check_daemon_causality(const DaemonIndex& index) {
  Violations violations;
  for (std::size_t i = 0; i < index.views().size(); ++i) {
    const View& view = index.views()[i];
    const std::vector<const Stay*> stays = index.stays_in(view);
    const OrderGraph causal = make_causal_graph(view, stays);
    // The regular part of all is one order. Behind the signal it is one for those who move on together.
    OrderGraph regular = causal;
    for (const Stay* stay : stays) add_order_of(view, *stay, false, regular);
    check(index, view, regular, "", violations);
    for (const auto& next_stays : index.moved_together(i)) {
      if (index.stay(next_stays.front()->previous).signal == nullptr) continue;
      OrderGraph together = causal;
      for (const Stay* next : next_stays) add_order_of(view, index.stay(next->previous), true, together);
      check(index, view, together, ", behind the signal", violations);
    }
  }
  return violations;
}

}  // namespace spindled::checkers
