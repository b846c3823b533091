#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// Views of daemons have growing numbers, and within one of them the order has growing positions.
std::pair<std::uint64_t, std::uint64_t> place_of(const GroupView& view) {
  return {view.id.view_number, view.id.position};
}

}  // namespace

Violations check_local_monotonicity(const History& history) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    std::map<std::string_view, const GroupView*> last;
    for (const GroupView* view : events_of<GroupView>(client)) {
      const GroupView*& before = last[view->group];
      if (before != nullptr && place_of(*view) <= place_of(*before)) {
        report(violations, fmt::format("local monotonicity: {} got view {} of {} after {}", client.name,
                                       to_text(view->id), view->group, to_text(before->id)));
      }
      before = view;
    }
  }
  return violations;
}

}  // namespace spindled::checkers
