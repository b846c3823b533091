#include "daemon/order/transitional_set.h"

#include <algorithm>

namespace spindled {

std::optional<TransitionalSet> TransitionalSet::make(const View& old_view, const Transition& transition,
                                                     const std::vector<DaemonId>& members_of_next) {
  TransitionalSet set;
  set.high_.resize(old_view.size());
  set.next_index_.resize(old_view.size());
  for (const Transition::Member& member : transition.members) {
    if (member.index >= members_of_next.size() || member.high.size() != old_view.size()) return std::nullopt;
    const DaemonId& daemon = members_of_next[member.index];
    const std::optional<MemberIndex> old_index = old_view.index_of(daemon.name);
    if (!old_index || old_view.members[*old_index] != daemon) return std::nullopt;
    set.members_.insert(*old_index);
    set.high_[*old_index] = member.high;
    set.next_index_[*old_index] = member.index;
  }
  if (!set.contains(old_view.self)) return std::nullopt;
  return set;
}

std::uint64_t TransitionalSet::recoverable(const Run& run) const {
  if (contains(run.origin)) return run.count;
  const MemberSet needing = run.destinations & members_;
  if (needing.empty()) return run.count;
  std::uint64_t highest = 0;
  needing.for_each([&](MemberIndex member) { highest = std::max(highest, high(member, run.origin)); });
  return highest < run.first ? 0 : std::min(run.count, highest - run.first + 1);
}

}  // namespace spindled
