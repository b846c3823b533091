#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

Violations check_daemon_self_delivery(const DaemonIndex& index) {
  Violations violations;
  for (const DaemonIndex::Stay& stay : index.stays()) {
    if (stay.next == kNone || !stay.self) continue;
    const DaemonIndex::View& view = index.view_of(stay);
    for (const DaemonIndex::Deed& deed : stay.deeds) {
      const DaemonIndex::Message& message = view.messages[deed.message];
      if (deed.handed_up != nullptr || !message.is_lossless()) continue;
      if (!message.is_for(*stay.self) || stay.has(deed.message)) continue;
      report(violations, fmt::format("self-delivery: {} never handed up its {}", to_text(stay.daemon->id),
                                     index.to_text(view, deed.message)));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
