#include <algorithm>

#include "tests/checkers/daemon_checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

using Stay = DaemonIndex::Stay;

std::size_t view_before(const DaemonIndex& index, const Stay& stay) {
  return stay.previous == kNone ? kNone : index.stay(stay.previous).view;
}

/// The members of `set`, by index in `view`.
std::vector<DaemonId> daemons_of(const DaemonIndex::View& view, const MemberSet& set) {
  std::vector<DaemonId> daemons;
  set.for_each([&](MemberIndex member) {
    if (member < view.members->size()) daemons.push_back((*view.members)[member]);
  });
  std::sort(daemons.begin(), daemons.end());
  return daemons;
}

void check_with_others(const DaemonIndex& index, const Stay& stay, Violations& violations) {
  const DaemonIndex::View& view = index.view_of(stay);
  const std::size_t before = view_before(index, stay);
  for (std::size_t i = 0; i < view.stays.size(); ++i) {
    const DaemonId& other = (*view.members)[i];
    const bool along = stay.installed->came_along.contains(static_cast<MemberIndex>(i));
    const auto complain = [&](const char* what) {
      report(violations, fmt::format("transitional set: {} in view {} {} {}", to_text(stay.daemon->id),
                                     index.to_text(view), what, to_text(other)));
    };
    if (along && i != stay.self && (before == kNone || !index.views()[before].index_of(other))) {
      complain("counts as having come along, from a view that it was not in,");
      continue;
    }
    if (view.stays[i] == kNone) continue;
    const Stay& theirs = index.stay(view.stays[i]);
    if (!along) {
      if (before != kNone && view_before(index, theirs) == before)
        complain("leaves out, though it comes from the same view,");
    } else if (view_before(index, theirs) != before) {
      complain("counts as having come along, though it comes from another view,");
    } else if (theirs.installed->came_along != stay.installed->came_along) {
      complain("differs, as to who came along, from");
    }
  }
}

void check_signal(const DaemonIndex& index, const Stay& stay, const Stay& old, Violations& violations) {
  const DaemonIndex::View& old_view = index.view_of(old);
  const auto complain = [&](const char* what) {
    report(violations, fmt::format("transitional set: {} {} at the end of view {}", to_text(stay.daemon->id), what,
                                   index.to_text(old_view)));
  };
  const std::vector<DaemonId> along = daemons_of(index.view_of(stay), stay.installed->came_along);
  const bool whole = along.size() == old_view.members->size();
  if (old.signal == nullptr) {
    if (!whole) complain("gave no signal, though not all moved on together,");
    return;
  }
  if (whole) complain("gave a signal, though all moved on together,");
  if (daemons_of(old_view, old.signal->members) != along) complain("signalled others than those who came along");
}

}  // namespace

Violations check_daemon_transitional_sets(const DaemonIndex& index) {
  Violations violations;
  for (const Stay& stay : index.stays()) {
    if (stay.signals > 1) {
      report(violations, fmt::format("transitional set: {} gave {} signals in view {}", to_text(stay.daemon->id),
                                     stay.signals, index.to_text(index.view_of(stay))));
    }
    if (!stay.self) continue;
    if (!stay.installed->came_along.contains(*stay.self)) {
      report(violations, fmt::format("transitional set: {} did not come along with itself to view {}",
                                     to_text(stay.daemon->id), index.to_text(index.view_of(stay))));
    }
    check_with_others(index, stay, violations);
    if (stay.previous != kNone) check_signal(index, stay, index.stay(stay.previous), violations);
  }
  return violations;
}

}  // namespace spindled::checkers
