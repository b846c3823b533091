#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

Violations check_fifo(const History& history) {
  Violations violations;
  const SentIndex index(history);
  for (const ClientHistory& client : history.clients) {
    std::map<Line, const SentIndex::Entry*> last;
    for (const Delivered* delivered : events_of<Delivered>(client)) {
      if (delivered->message.service < Service::fifo) continue;
      const SentIndex::Entry* entry = index.find(delivered->message);
      if (entry == nullptr) continue;  // check_no_invention speaks of it
      const SentIndex::Entry*& before = last[line_of(*entry->sender, delivered->message)];
      if (before != nullptr && entry->place < before->place) {
        report(violations, fmt::format("fifo: {} got {} after {}, which was sent later", client.name,
                                       to_text(delivered->message), to_text(before->sent->message)));
      }
      before = entry;
    }
  }
  return violations;
}

}  // namespace spindled::checkers
