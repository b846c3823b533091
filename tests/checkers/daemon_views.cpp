#include <algorithm>
#include <set>

#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

void check_agreement(const DaemonIndex& index, Violations& violations) {
  // The coordinator's life belongs to the name of a view: a daemon that starts again starts again to count.
  std::map<std::pair<ViewId, DaemonId>, const DaemonIndex::View*> first;
  for (const DaemonIndex::View& view : index.views()) {
    const auto [known, is_new] = first.try_emplace({view.id, view.coordinator()}, &view);
    if (is_new) continue;
    report(violations, fmt::format("agreement on views: view {} was installed with {} members, and with {} others",
                                   index.to_text(view), known->second->members->size(), view.members->size()));
  }
}

}  // namespace

Violations check_daemon_views(const DaemonIndex& index) {
  Violations violations;
  check_agreement(index, violations);
  for (const DaemonIndex::View& view : index.views()) {
    if (std::set(view.members->begin(), view.members->end()).size() == view.members->size()) continue;
    report(violations, fmt::format("agreement on views: view {} names a member twice", index.to_text(view)));
  }
  for (const DaemonIndex::Stay& stay : index.stays()) {
    const std::string daemon = to_text(stay.daemon->id);
    const std::string view = to_string(stay.installed->id);
    if (!stay.self) report(violations, fmt::format("self-inclusion: {} installed view {} without it", daemon, view));
    if (stay.previous == kNone) continue;
    const ViewId& before = index.stay(stay.previous).installed->id;
    if (stay.installed->id.number > before.number) continue;
    report(violations,
           fmt::format("local monotonicity: {} installed view {} after {}", daemon, view, to_string(before)));
  }
  return violations;
}

}  // namespace spindled::checkers
