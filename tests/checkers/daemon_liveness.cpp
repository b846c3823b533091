#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// Whether all members of `stay`'s view are running and in it; tells if not.
bool check_company(const DaemonIndex& index, const DaemonIndex::Stay& stay, Violations& violations) {
  const DaemonIndex::View& view = index.view_of(stay);
  for (std::size_t i = 0; i < view.stays.size(); ++i) {
    const DaemonIndex::Stay* other = view.stays[i] == kNone ? nullptr : &index.stay(view.stays[i]);
    if (other != nullptr && other->next == kNone && other->daemon->is_running()) continue;
    report(violations, fmt::format("liveness: at the end {} is in view {}, of which {} is a member and not in it",
                                   to_text(stay.daemon->id), index.to_text(view), to_text((*view.members)[i])));
    return false;
  }
  return true;
}

}  // namespace

Violations check_daemon_liveness(const DaemonIndex& index) {
  Violations violations;
  if (!index.at_rest()) return violations;
  for (const DaemonIndex::Stay* stay : index.last_stays()) {
    if (!stay->daemon->is_running() || !check_company(index, *stay, violations) || !stay->self) continue;
    const DaemonIndex::View& view = index.view_of(*stay);
    for (DaemonIndex::MessageId id = 0; id < view.messages.size(); ++id) {
      const DaemonIndex::Message& message = view.messages[id];
      if (!message.is_lossless() || !message.is_for(*stay->self) || stay->has(id)) continue;
      report(violations,
             fmt::format("liveness: {} never handed up {}", to_text(stay->daemon->id), index.to_text(view, id)));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
