#include <algorithm>

#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// Whether the origin of what is handed up may have taken earlier messages with it: nobody who moves on has them, and
/// at the end of the view what came later is brought to those who lack it.
bool may_have_gaps(const DaemonIndex::Stay& stay, const DaemonIndex::Message& message) {
  return stay.signal != nullptr && !stay.signal->members.contains(message.origin);
}

void check_stay(const DaemonIndex& index, const DaemonIndex::Stay& stay, Violations& violations) {
  const DaemonIndex::View& view = index.view_of(stay);
  std::vector<std::size_t> last(view.of_sender.size(), 0);  // by sender: the place of what was handed up last
  for (const DaemonIndex::Deed& deed : stay.deeds) {
    const DaemonIndex::Message& message = view.messages[deed.message];
    if (deed.handed_up == nullptr || message.place == 0) continue;
    const std::vector<DaemonIndex::MessageId>& sent = view.of_sender[message.sender];
    std::size_t& before = last[message.sender];
    if (message.place < before) {
      report(violations, fmt::format("fifo: {} handed up {} after {}, which was sent later", to_text(stay.daemon->id),
                                     index.to_text(view, deed.message), index.to_text(view, sent[before - 1])));
    }
    const bool without_gaps = !deed.transitional && !may_have_gaps(stay, message);
    for (std::size_t place = before + 1; without_gaps && place < message.place; ++place) {
      if (!view.messages[sent[place - 1]].is_for(*stay.self)) continue;
      report(violations,
             fmt::format("fifo: {} handed up {} without {}, which was sent before", to_text(stay.daemon->id),
                         index.to_text(view, deed.message), index.to_text(view, sent[place - 1])));
      break;
    }
    before = std::max(before, message.place);
  }
}

}  // namespace

Violations check_daemon_fifo(const DaemonIndex& index) {
  Violations violations;
  for (const DaemonIndex::Stay& stay : index.stays()) {
    if (stay.self) check_stay(index, stay, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
