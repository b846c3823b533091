#include <algorithm>

#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

using Stay = DaemonIndex::Stay;
using View = DaemonIndex::View;

/// Where each ordered message stands in the order of the view, as those tell who handed it up before a signal; 0: they
/// do not.
std::vector<std::uint64_t> positions_of(const View& view, const std::vector<const Stay*>& stays) {
  std::vector<std::uint64_t> positions(view.messages.size());
  for (const Stay* stay : stays) {
    for (const DaemonIndex::Deed& deed : stay->deeds) {
      if (deed.handed_up == nullptr || deed.transitional || !is_ordered(deed.handed_up->service)) continue;
      positions[deed.message] = deed.handed_up->position;
    }
  }
  return positions;
}

struct Hole {
  DaemonIndex::MessageId message = 0;
  std::uint64_t position = UINT64_MAX;
};

/// The first message that is for all of `together`, and that none of them has: nobody can have gone past it.
Hole first_hole(const View& view, const std::vector<std::uint64_t>& positions,
                const std::vector<const Stay*>& together) {
  Hole first;
  for (DaemonIndex::MessageId id = 0; id < positions.size(); ++id) {
    if (positions[id] == 0 || positions[id] >= first.position) continue;
    const bool is_lost = std::all_of(together.begin(), together.end(), [&](const Stay* stay) {
      return stay->self && view.messages[id].is_for(*stay->self) && !stay->has(id);
    });
    if (is_lost) first = {id, positions[id]};
  }
  return first;
}

void check(const DaemonIndex& index, const View& view, const Hole& hole, const std::vector<const Stay*>& stays,
           const std::vector<const Stay*>& together, Violations& violations) {
  const auto came_along = [&](MemberIndex member) {
    return std::any_of(together.begin(), together.end(), [&](const Stay* stay) { return stay->self == member; });
  };
  for (const Stay* stay : stays) {
    for (const DaemonIndex::Deed& deed : stay->deeds) {
      if (deed.handed_up == nullptr || !deed.transitional || !is_ordered(deed.handed_up->service)) continue;
      if (deed.handed_up->position <= hole.position || came_along(view.messages[deed.message].origin)) continue;
      report(violations, fmt::format("holes: {} handed up {}, which may depend on {}, though that is lost",
                                     to_text(stay->daemon->id), index.to_text(view, deed.message),
                                     index.to_text(view, hole.message)));
    }
  }
}

/// Who comes along into a next view as those say who installed it; others may not have got that far, and have told them
/// how far they are in this one.
std::vector<const Stay*> who_comes_along(const DaemonIndex& index, const View& view, const Stay& next) {
  std::vector<const Stay*> together;
  next.installed->came_along.for_each([&](MemberIndex member) {
    const auto here = view.index_of((*index.view_of(next).members)[member]);
    if (here && view.stays[*here] != kNone) together.push_back(&index.stay(view.stays[*here]));
  });
  return together;
}

}  // namespace

Violations check_daemon_holes(const DaemonIndex& index) {
  Violations violations;
  for (std::size_t i = 0; i < index.views().size(); ++i) {
    const View& view = index.views()[i];
    std::vector<std::uint64_t> positions;
    for (const auto& next_stays : index.moved_together(i)) {
      std::vector<const Stay*> stays;
      for (const Stay* next : next_stays) stays.push_back(&index.stay(next->previous));
      if (stays.front()->signal == nullptr) continue;
      if (positions.empty()) positions = positions_of(view, index.stays_in(view));
      const std::vector<const Stay*> together = who_comes_along(index, view, *next_stays.front());
      const Hole hole = first_hole(view, positions, together);
      if (hole.position != UINT64_MAX) check(index, view, hole, stays, together, violations);
    }
  }
  return violations;
}

}  // namespace spindled::checkers
