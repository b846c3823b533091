#include "daemon/order/view_closing.h"

#include <functional>
#include <queue>
#include <tuple>

namespace spindled {

void ViewClosing::close(Time now) {
  const std::uint64_t lost_before = state_.context.counters.value(Counter::ordered_lost);
  pass_order(now);
  pass_unordered(now);
  const std::uint64_t lost = state_.context.counters.value(Counter::ordered_lost) - lost_before;
  if (lost > 0) state_.log.debug("{} ordered messages of the old view are lost", lost);
}

void ViewClosing::pass_order(Time now) {
  pass_what_nothing_holds_up(now);
  if (!is_whole_) {
    state_.log.debug("the view ends in parts: {} of its {} members go on together", set_.members().count(),
                     state_.view.size());
    if (state_.observer != nullptr) state_.observer->transitional(set_.members());
    state_.tell(now, &OrderedMessages::transitional, set_.members());
  }
  while (!state_.order.empty() && is_before_furthest()) pass_behind_signal(now);
  // Whoever was furthest has gone on from there without the signal.
  if (!has_hole_) pass_what_nothing_holds_up(now);
  if (!is_whole_) state_.tell(now, &OrderedMessages::furthest_reached);
  while (!state_.order.empty()) pass_behind_signal(now);
}

void ViewClosing::pass_what_nothing_holds_up(Time now) {
  while (!state_.order.empty()) {
    const Run& run = state_.order.front();
    std::uint64_t count = set_.recoverable(run);
    if (run.safe) count = std::min(count, safe_limit_ - std::min(safe_limit_, state_.order.processed()));
    if (count == 0) return;
    pass_run(now, count, true);
  }
}

void ViewClosing::pass_behind_signal(Time now) {
  const Run& run = state_.order.front();
  const std::uint64_t count = set_.recoverable(run);
  if (count == 0) {
    // A run that reaches beyond the furthest member has a lost message that all have before them still.
    has_hole_ = has_hole_ || state_.order.processed() + run.count > transition_.processed;
    state_.context.counters.add(Counter::ordered_lost, run.count);
    state_.order.advance(run.count);
  } else if (is_before_furthest()) {
    pass_run(now, std::min(count, transition_.processed - state_.order.processed()), true);
  } else {
    pass_run(now, count, may_deliver(run.origin));
  }
}

bool ViewClosing::may_deliver(MemberIndex origin) const { return !has_hole_ || set_.contains(origin); }

void ViewClosing::pass_run(Time now, std::uint64_t count, bool delivered) {
  const Run& run = state_.order.front();
  if (!run.destinations.contains(state_.view.self)) {
    state_.order.advance(count);
    return;
  }
  const MemberIndex origin = run.origin;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (state_.incoming[origin].ordered().empty()) {
      state_.log.error("a message of {} that recovery should have brought is missing",
                       state_.view.members[origin].name);
      state_.order.advance(count - i);
      return;
    }
    if (delivered) {
      deliver(now, state_.take_front());
    } else {
      drop(now, state_.incoming[origin].pass_ordered());
      state_.order.advance(1);
    }
  }
}

/// All have to take them in the same order, causes first. What one of them depends on was ordered, where its origin
/// saw it, behind all that the origin of that had seen when it sent it: who had seen less comes first.
void ViewClosing::pass_unordered(Time now) {
  struct First {  // of an origin's messages
    std::uint64_t seen;
    std::size_t place;  // among the origins
    MemberIndex origin;
    bool operator>(const First& other) const { return std::tie(seen, place) > std::tie(other.seen, other.place); }
  };
  std::priority_queue<First, std::vector<First>, std::greater<>> firsts;
  const auto add = [&](std::size_t place, MemberIndex origin) {
    const Ring<PendingMessage>& unordered = state_.incoming[origin].ordered();
    if (!unordered.empty()) firsts.push({unordered.front().seen, place, origin});
  };
  for (std::size_t i = 0; i < state_.incoming.size(); ++i) {
    add(i, static_cast<MemberIndex>(i));
  }
  while (!firsts.empty()) {
    const First first = firsts.top();
    firsts.pop();
    PendingMessage pending = state_.incoming[first.origin].pass_ordered();
    if (may_deliver(first.origin)) {
      pending.delivery.position = state_.order.processed();
      deliver(now, pending);
    } else {
      drop(now, pending);
    }
    add(first.place, first.origin);
  }
}

void ViewClosing::deliver(Time now, const PendingMessage& pending) {
  state_.deliver(now, pending.delivery);
  state_.deliver_followers(now, pending);
}

/// Its followers are not lost with it: members that it was not addressed to have delivered them.
void ViewClosing::drop(Time now, const PendingMessage& pending) {
  state_.context.counters.add(Counter::ordered_lost);
  state_.deliver_followers(now, pending);
}

}  // namespace spindled
