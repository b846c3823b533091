#include "daemon/order/recovery.h"

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

namespace {

/// The members of `set` that body `number` of `origin` is addressed to and that lack it, by new index, provided that
/// it is `self` who has to push it.
MemberSet receivers_of(const TransitionalSet& set, MemberIndex self, MemberIndex origin, std::uint64_t number,
                       const MemberSet& destinations) {
  MemberSet lacking;
  std::optional<MemberIndex> first_holder;
  (destinations & set.members()).for_each([&](MemberIndex member) {
    if (set.high(member, origin) < number) {
      lacking.insert(member);
    } else if (!first_holder) {
      first_holder = member;
    }
  });
  const bool mine = set.contains(origin) ? origin == self : first_holder == self;
  MemberSet receivers;
  if (!mine) return receivers;
  lacking.erase(self);
  lacking.for_each([&](MemberIndex member) { receivers.insert(set.next_index(member)); });
  return receivers;
}

void plan_stream(const TransitionalSet& set, MemberIndex self, MemberIndex origin, const Ring<RetainedBody>& retained,
                 std::vector<PushOut>& pushes) {
  for (std::size_t i = 0; i < retained.size(); ++i) {
    const RetainedBody& body = retained[i];
    const std::optional<Body> parsed = read_body(body.head.view());
    SPINDLE_CHECK(parsed);  // it was parsed, or written, when it was retained
    MemberSet receivers = receivers_of(set, self, origin, body.number, read_destinations(*parsed));
    if (!receivers.empty()) pushes.push_back({std::move(receivers), body.head, body.tail});
  }
}

}  // namespace

std::vector<PushOut> plan_pushes(const TransitionalSet& set, MemberIndex self, const OwnStream& own,
                                 const std::vector<IncomingStream>& incoming) {
  std::vector<PushOut> pushes;
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const auto origin = static_cast<MemberIndex>(i);
    if (origin == self) {
      plan_stream(set, self, origin, own.retained(), pushes);
    } else if (!set.contains(origin)) {
      plan_stream(set, self, origin, incoming[origin].retained(), pushes);
    }
  }
  return pushes;
}

}  // namespace spindled
