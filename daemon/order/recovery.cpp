#include "daemon/order/recovery.h"

#include <algorithm>

namespace spindled {

namespace {

TransitionalSet set_of(const View& old_view, const Commit& commit, MemberIndex self) {
  const auto has_self = [self](const Transition& transition) {
    return std::any_of(transition.members.begin(), transition.members.end(),
                       [self](const Transition::Member& member) { return member.index == self; });
  };
  const auto own = std::find_if(commit.transitions.begin(), commit.transitions.end(), has_self);
  SPINDLE_CHECK(own != commit.transitions.end());
  std::optional<TransitionalSet> set = TransitionalSet::make(old_view, *own, commit.members);
  SPINDLE_CHECK(set);
  return std::move(*set);
}

/// The members of `set` that body `number` of `origin` is addressed to and that lack it, by new index, provided that
/// it is `self` who has to retransmit it.
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
                 std::vector<PushOut>& plan) {
  for (std::size_t i = 0; i < retained.size(); ++i) {
    const RetainedBody& body = retained[i];
    const std::optional<Body> parsed = read_body(body.head.view());
    SPINDLE_CHECK(parsed);  // it was parsed, or written, when it was retained
    MemberSet receivers = receivers_of(set, self, origin, body.number, read_destinations(*parsed));
    if (!receivers.empty()) plan.push_back({std::move(receivers), body.head, body.tail});
  }
}

}  // namespace

Recovery::Recovery(OrderState& state, const Commit& commit, MemberIndex self)
    : state_(state), set_(set_of(state.view, commit, self)) {}

std::vector<PushOut> Recovery::plan() const {
  std::vector<PushOut> plan;
  const MemberIndex self = state_.view.self;
  for (std::size_t i = 0; i < state_.incoming.size(); ++i) {
    const auto origin = static_cast<MemberIndex>(i);
    if (origin == self) {
      plan_stream(set_, self, origin, state_.own.retained(), plan);
    } else if (!set_.contains(origin)) {
      plan_stream(set_, self, origin, state_.incoming[origin].retained(), plan);
    }
  }
  return plan;
}

bool Recovery::accept(Slice bytes) {
  const std::optional<Body> body = read_body(bytes.view());
  if (!body || body->head.number == 0 || body->head.origin >= state_.view.size()) return false;
  if (body->head.number > state_.incoming[body->head.origin].high() && body->head.origin != state_.view.self) {
    held_.emplace(std::pair(body->head.origin, body->head.number), std::move(bytes));
  }
  return true;
}

std::size_t Recovery::held_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [place, body] : held_) bytes += body.size();
  return bytes;
}

std::vector<Slice> Recovery::take(Streams streams) {
  std::vector<Slice> taken;
  for (auto entry = held_.begin(); entry != held_.end();) {
    if (streams == Streams::of_members && !set_.contains(entry->first.first)) {
      ++entry;
      continue;
    }
    taken.push_back(std::move(entry->second));
    entry = held_.erase(entry);
  }
  return taken;
}

void Recovery::complete_streams() {
  set_.members().for_each([&](MemberIndex origin) {
    if (origin != state_.view.self) state_.incoming[origin].advance_to(set_.high(origin, origin));
  });
}

}  // namespace spindled
