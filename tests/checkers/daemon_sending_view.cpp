#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// The view in which `origin` originated that content, if any.
const DaemonIndex::View* find_elsewhere(const DaemonIndex& index, const DaemonId& origin, const HandedUp& handed_up) {
  for (const DaemonIndex::View& view : index.views()) {
    for (const DaemonIndex::Message& message : view.messages) {
      if (message.originated == nullptr || message.originated->digest != handed_up.digest) continue;
      if (message.originated->message_class != handed_up.message_class) continue;
      if ((*view.members)[message.origin] == origin) return &view;
    }
  }
  return nullptr;
}

}  // namespace

Violations check_daemon_sending_view(const DaemonIndex& index) {
  Violations violations;
  for (const DaemonIndex::Stay& stay : index.stays()) {
    const DaemonIndex::View& view = index.view_of(stay);
    for (const DaemonIndex::Deed& deed : stay.deeds) {
      const DaemonIndex::Message& message = view.messages[deed.message];
      if (message.originated != nullptr || message.origin >= view.members->size()) continue;
      if (violations.size() == kViolationsMax) return violations;
      const DaemonIndex::View* sent = find_elsewhere(index, (*view.members)[message.origin], *deed.handed_up);
      if (sent == nullptr) continue;  // check_daemon_no_invention speaks of it
      report(violations,
             fmt::format("sending view: {} handed up {}, which was sent in view {}", to_text(stay.daemon->id),
                         index.to_text(view, deed.message), index.to_text(*sent)));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
