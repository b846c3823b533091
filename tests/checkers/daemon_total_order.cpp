#include <algorithm>

#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/order_graph.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

using Stay = DaemonIndex::Stay;
using View = DaemonIndex::View;
using MessageId = DaemonIndex::MessageId;

constexpr std::uint64_t kUnordered = UINT64_MAX;  // behind all positions

/// What `stay` handed up in the order; without `transitional`, up to the signal.
std::vector<const DaemonIndex::Deed*> ordered_of(const View& view, const Stay& stay, bool transitional) {
  std::vector<const DaemonIndex::Deed*> ordered;
  for (const DaemonIndex::Deed& deed : stay.deeds) {
    if (deed.handed_up == nullptr || (deed.transitional && !transitional)) continue;
    if (is_ordered(view.messages[deed.message].service())) ordered.push_back(&deed);
  }
  return ordered;
}

void check_one_order(const DaemonIndex& index, const View& view, const std::vector<const Stay*>& stays,
                     bool transitional, Violations& violations) {
  OrderGraph graph(view.messages.size());
  for (const Stay* stay : stays) {
    const auto ordered = ordered_of(view, *stay, transitional);
    for (std::size_t i = 1; i < ordered.size(); ++i) graph.add_edge(ordered[i - 1]->message, ordered[i]->message);
  }
  const std::vector<OrderGraph::Node> cycle = graph.find_cycle();
  if (cycle.empty()) return;
  report(violations, fmt::format("total order: {} and {} were handed up in contrary orders{}, {} messages in all",
                                 index.to_text(view, cycle.front()), index.to_text(view, cycle[1 % cycle.size()]),
                                 transitional ? " by daemons that moved on together" : "", cycle.size()));
}

/// What never got a place in the order is handed up last, without a position; as regular only where all members move
/// on together.
bool may_lack_position(const Stay& stay) { return stay.next != kNone && stay.signal == nullptr; }

/// Positions are the same everywhere and do not go down.
std::vector<std::uint64_t> check_positions(const DaemonIndex& index, const View& view,
                                           const std::vector<const Stay*>& stays, Violations& violations) {
  std::vector<std::uint64_t> positions(view.messages.size(), 0);
  for (const Stay* stay : stays) {
    std::uint64_t last = 0;
    for (const DaemonIndex::Deed* deed : ordered_of(view, *stay, false)) {
      const bool is_last = deed->handed_up->position == 0 && may_lack_position(*stay);
      const std::uint64_t position = is_last ? kUnordered : deed->handed_up->position;
      std::uint64_t& known = positions[deed->message];
      if (position == 0 || position < last || (known != 0 && known != position)) {
        report(violations,
               fmt::format("total order: {} handed up {} at position {}, behind {}; others at {}",
                           to_text(stay->daemon->id), index.to_text(view, deed->message), position, last, known));
      }
      known = last = position;
    }
  }
  return positions;
}

/// What is before a regular message has been handed up as regular too.
void check_nothing_left_out(const DaemonIndex& index, const View& view, const std::vector<const Stay*>& stays,
                            const std::vector<std::uint64_t>& positions, Violations& violations) {
  for (const Stay* stay : stays) {
    const auto regular = ordered_of(view, *stay, false);
    if (regular.empty()) continue;
    const DaemonIndex::Deed& last = *regular.back();
    for (MessageId id = 0; id < view.messages.size(); ++id) {
      if (positions[id] == 0 || positions[id] >= positions[last.message]) continue;
      if (!view.messages[id].is_for(*stay->self) || stay->states[id] == DaemonIndex::State::regular) continue;
      report(violations,
             fmt::format("total order: {} handed up {} without {}, which others had before", to_text(stay->daemon->id),
                         index.to_text(view, last.message), index.to_text(view, id)));
      break;
    }
  }
}

}  // namespace

Violations check_daemon_total_order(const DaemonIndex& index) {
  Violations violations;
  for (std::size_t i = 0; i < index.views().size(); ++i) {
    const View& view = index.views()[i];
    const std::vector<const Stay*> stays = index.stays_in(view);
    check_one_order(index, view, stays, false, violations);
    const std::vector<std::uint64_t> positions = check_positions(index, view, stays, violations);
    check_nothing_left_out(index, view, stays, positions, violations);
    for (const auto& next_stays : index.moved_together(i)) {
      std::vector<const Stay*> together;
      for (const Stay* next : next_stays) together.push_back(&index.stay(next->previous));
      if (together.size() > 1 && together.front()->signal != nullptr) {
        check_one_order(index, view, together, true, violations);
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
