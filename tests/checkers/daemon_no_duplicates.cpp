#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

Violations check_daemon_no_duplicates(const DaemonIndex& index) {
  Violations violations;
  for (const DaemonIndex::Stay& stay : index.stays()) {
    for (const DaemonIndex::MessageId message : stay.duplicates) {
      report(violations, fmt::format("no duplicates: {} handed up {} again", to_text(stay.daemon->id),
                                     index.to_text(index.view_of(stay), message)));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
