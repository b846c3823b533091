// The life of a view, as the order layer goes through it: freeze, recovery, close, open.
#include <functional>
#include <queue>
#include <tuple>

#include "daemon/order/order.h"

namespace spindled {

FrozenState Order::freeze(Time) {
  state_ = State::frozen;
  for (const Timer timer : {Timer::report, Timer::stable}) timers_.stop(timer);
  FrozenState state;
  state.safe_line = safe_line_;
  state.processed = order_.processed();
  state.stable = own_.stable_line();
  state.high.reserve(incoming_.size());
  for (const IncomingStream& stream : incoming_) state.high.push_back(stream.high());
  state.high[view_.self] = own_.last_number();
  return state;
}

std::vector<PushOut> Order::plan_pushes(const Commit& commit, MemberIndex self) {
  pushed_.clear();
  for (const Transition& transition : commit.transitions) {
    const bool mine = std::any_of(transition.members.begin(), transition.members.end(),
                                  [&](const Transition::Member& member) { return member.index == self; });
    if (!mine) continue;
    recovering_ = TransitionalSet::make(view_, transition, commit.members);
    SPINDLE_CHECK(recovering_);  // view agreement has checked the commit against this view
    return spindled::plan_pushes(*recovering_, view_.self, own_, incoming_);
  }
  return {};
}

bool Order::accept_push(Slice bytes) {
  const std::optional<Body> body = read_body(bytes.view());
  if (!body || body->head.number == 0 || body->head.origin >= view_.size()) return false;
  if (body->head.number > incoming_[body->head.origin].high() && body->head.origin != view_.self) {
    pushed_.emplace(std::pair(body->head.origin, body->head.number), std::move(bytes));
  }
  return true;
}

/// Of an origin that is in the set all is there now: what this daemon has is again a prefix of what the stream
/// addressed to it. Of others there may be gaps, and only the install takes what was pushed of theirs.
void Order::recovered(Time now) {
  take_pushed(now, true);
  recovering_->members().for_each([&](MemberIndex origin) {
    if (origin != view_.self) incoming_[origin].advance_to(recovering_->high(origin, origin));
  });
}

void Order::install(Time now, const View& view, const Transition& transition) {
  MemberSet came_along;
  if (state_ == State::closed) {
    came_along.insert(view.self);
  } else {
    SPINDLE_CHECK(state_ == State::frozen);
    SPINDLE_CHECK(recovering_);  // by the commit that this view comes from
    take_pushed(now, false);
    const std::uint64_t lost = context_.counters.value(Counter::ordered_lost);
    close_view(now, *recovering_, transition);
    recovering_.reset();
    const std::uint64_t lost_now = context_.counters.value(Counter::ordered_lost) - lost;
    if (lost_now > 0) log_.debug("{} ordered messages of the old view are lost", lost_now);
    for (const Transition::Member& member : transition.members) came_along.insert(member.index);
  }
  open_view(view);
  above_.view_installed(now, view_, came_along);
}

/// `from_set`: only what origins in the transitional set have pushed of their own streams.
void Order::take_pushed(Time now, bool from_set) {
  for (auto entry = pushed_.begin(); entry != pushed_.end();) {
    const auto& [origin, number] = entry->first;
    if (from_set && !recovering_->contains(origin)) {
      ++entry;
      continue;
    }
    if (number > incoming_[origin].high()) {
      const Slice& bytes = entry->second;
      const std::optional<Body> body = read_body(bytes.view());
      incoming_[origin].retain(number, bytes);
      take_content(now, body->head, bytes.part(body->content_offset), Slice());
    }
    entry = pushed_.erase(entry);
  }
}

void Order::close_view(Time now, const TransitionalSet& set, const Transition& transition) {
  // Where all members move on together everybody has everything, and all of it counts as delivered in the old view.
  const bool whole = set.is_whole(view_);
  const std::uint64_t safe_limit = whole ? order_.end() : transition.safe_line;
  const auto pass_what_nothing_holds_up = [&] {
    while (!order_.empty()) {
      const Run& run = order_.front();
      std::uint64_t count = set.recoverable(run);
      if (run.safe) count = std::min(count, safe_limit - std::min(safe_limit, order_.processed()));
      if (count == 0) return;
      pass_run(now, count, true);
    }
  };
  pass_what_nothing_holds_up();

  if (!whole) {
    log_.debug("the view ends in parts: {} of its {} members go on together", set.members().count(), view_.size());
    above_.transitional(now, set.members());
  }

  // After the first hole, messages from outside the set may depend on what is missing. But a member that the missing
  // message was not addressed to may have gone on past it, and what one may have delivered, all deliver: only a hole
  // that all have still before them counts.
  bool hole = false;
  while (!order_.empty() && order_.processed() < transition.processed) close_run(now, set, transition, hole);
  // Whoever was furthest has gone on from there without the signal, as far as nothing held it up.
  if (!hole) pass_what_nothing_holds_up();
  if (!whole) above_.furthest_reached(now);
  while (!order_.empty()) close_run(now, set, transition, hole);
  close_unordered(now, set, hole);
}

/// What can be delivered of the first run behind the signal; or all of it is lost.
void Order::close_run(Time now, const TransitionalSet& set, const Transition& transition, bool& hole) {
  const Run& run = order_.front();
  const std::uint64_t count = set.recoverable(run);
  if (count == 0) {
    hole = hole || order_.processed() + run.count > transition.processed;
    context_.counters.add(Counter::ordered_lost, run.count);
    order_.advance(run.count);
  } else if (order_.processed() < transition.processed) {
    pass_run(now, std::min(count, transition.processed - order_.processed()), true);
  } else {
    pass_run(now, count, !hole || set.contains(run.origin));
  }
}

/// Nobody here knows the place of these. What one of them depends on was ordered, where its origin saw it, behind all
/// that the origin of that had seen when it sent it: who had seen less comes first.
void Order::close_unordered(Time now, const TransitionalSet& set, bool hole) {
  struct First {  // of an origin's messages
    std::uint64_t seen;
    std::size_t place;  // among the origins
    MemberIndex origin;
    bool operator>(const First& other) const { return std::tie(seen, place) > std::tie(other.seen, other.place); }
  };
  std::priority_queue<First, std::vector<First>, std::greater<>> firsts;
  const auto add = [&](std::size_t place, MemberIndex origin) {
    const Ring<PendingMessage>& unordered = incoming_[origin].ordered();
    if (!unordered.empty()) firsts.push({unordered.front().seen, place, origin});
  };
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    add(i, static_cast<MemberIndex>(i));
  }
  while (!firsts.empty()) {
    const First first = firsts.top();
    firsts.pop();
    PendingMessage pending = incoming_[first.origin].ordered().pop_front();
    if (!hole || set.contains(first.origin)) {
      pending.delivery.position = order_.processed();
      deliver_pending(now, pending);
    } else {
      drop_pending(now, pending);
    }
    add(first.place, first.origin);
  }
}

void Order::pass_run(Time now, std::uint64_t count, bool delivered) {
  const Run& run = order_.front();
  if (!run.destinations.contains(view_.self)) {
    order_.advance(count);
    return;
  }
  const MemberIndex origin = run.origin;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (incoming_[origin].ordered().empty()) {
      log_.error("a message of {} that recovery should have brought is missing", view_.members[origin].name);
      order_.advance(count - i);
      return;
    }
    if (delivered) {
      deliver_pending(now, take_front());
    } else {
      drop_pending(now, incoming_[origin].ordered().pop_front());
      order_.advance(1);
    }
  }
}

void Order::deliver_pending(Time now, const PendingMessage& pending) {
  above_.deliver(now, pending.delivery);
  deliver_followers(now, pending);
}

/// Its followers are not lost with it: members that it was not addressed to have delivered them.
void Order::drop_pending(Time now, const PendingMessage& pending) {
  context_.counters.add(Counter::ordered_lost);
  if (!pending.followers) return;
  for (const Delivery& follower : *pending.followers) above_.deliver(now, follower);
}

void Order::open_view(const View& view) {
  view_ = view;
  ++epoch_;
  everybody_ = MemberSet::first(view.size());
  sequencer_set_ = MemberSet::of(view.sequencer);
  const std::uint64_t start = context_.config.first_number;
  own_ = OwnStream(view.size(), view.self, start);
  incoming_.clear();
  while (incoming_.size() < view.size()) incoming_.emplace_back(start);
  order_ = OrderLog(start);
  ready_line_ = ReadyLine();
  sequencer_.reset();
  if (view.sequencer == view.self) sequencer_.emplace(view.size(), start);
  unreported_.clear();
  progress_wanted_ = false;
  reports_due_ = false;
  horizon_ = handed_up_horizon_ = safe_line_ = told_ready_ = start;
  state_ = State::open;
}

}  // namespace spindled
