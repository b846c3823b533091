#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

Violations check_daemon_no_invention(const DaemonIndex& index) {
  Violations violations;
  for (const DaemonIndex::Stay& stay : index.stays()) {
    const DaemonIndex::View& view = index.view_of(stay);
    for (const DaemonIndex::Deed& deed : stay.deeds) {
      if (deed.handed_up == nullptr) continue;
      const DaemonIndex::Message& message = view.messages[deed.message];
      const auto complain = [&](const char* what) {
        report(violations, fmt::format("no invention: {} handed up {}, {}", to_text(stay.daemon->id),
                                       index.to_text(view, deed.message), what));
      };
      if (message.originated == nullptr) {
        complain("which its origin did not originate");
        continue;
      }
      const Originated& sent = *message.originated;
      if (deed.handed_up->digest != sent.digest) complain("with other content than was sent");
      if (deed.handed_up->service != sent.service || deed.handed_up->message_class != sent.message_class) {
        complain("of another service or class than was sent");
      }
      if (!stay.self || !message.is_for(*stay.self)) complain("which is not for it");
    }
  }
  return violations;
}

}  // namespace spindled::checkers
