#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

Violations check_no_duplicates(const History& history) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    std::set<MessageKey> seen;
    for (const Delivered* delivered : events_of<Delivered>(client)) {
      if (seen.insert(key_of(delivered->message)).second) continue;
      report(violations, fmt::format("no duplicates: {} got {} again", client.name, to_text(delivered->message)));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
