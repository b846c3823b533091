#include <algorithm>

#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

/// Whether `daemon`, which never installed `view`, has gone past it, or will never do so.
bool has_missed(const DaemonIndex& index, const DaemonIndex::View& view, const DaemonId& daemon) {
  return std::any_of(index.stays().begin(), index.stays().end(), [&](const DaemonIndex::Stay& stay) {
    if (stay.daemon->id != daemon) return false;
    return stay.installed->id.number > view.id.number || (index.at_rest() && stay.daemon->is_running());
  });
}

/// Whether the member had to hand up whatever the view has guaranteed.
bool is_bound(const DaemonIndex& index, const DaemonIndex::View& view, std::size_t member) {
  if (view.stays[member] == kNone) return has_missed(index, view, (*view.members)[member]);
  const DaemonIndex::Stay& stay = index.stay(view.stays[member]);
  return stay.next != kNone || (index.at_rest() && stay.daemon->is_running());
}

}  // namespace

Violations check_daemon_safe_delivery(const DaemonIndex& index) {
  Violations violations;
  for (const DaemonIndex::View& view : index.views()) {
    std::vector<const DaemonIndex::Stay*> guarantor(view.messages.size(), nullptr);
    bool any = false;
    for (const std::size_t stay : view.stays) {
      if (stay == kNone) continue;
      for (const DaemonIndex::Deed& deed : index.stay(stay).deeds) {
        if (deed.handed_up == nullptr || deed.transitional) continue;
        if (view.messages[deed.message].service() != Service::safe) continue;
        guarantor[deed.message] = &index.stay(stay);
        any = true;
      }
    }
    for (std::size_t member = 0; any && member < view.stays.size(); ++member) {
      if (!is_bound(index, view, member)) continue;
      for (DaemonIndex::MessageId id = 0; id < guarantor.size(); ++id) {
        if (guarantor[id] == nullptr || !view.messages[id].is_for(static_cast<MemberIndex>(member))) continue;
        if (view.stays[member] != kNone && index.stay(view.stays[member]).has(id)) continue;
        report(violations, fmt::format("safe delivery: {} handed up {} before any signal, {} never did",
                                       to_text(guarantor[id]->daemon->id), index.to_text(view, id),
                                       to_text((*view.members)[member])));
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
