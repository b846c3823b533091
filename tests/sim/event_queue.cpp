#include "tests/sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled::sim {

void EventQueue::at(Time time, Action action) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(actions_.size()));
    actions_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  actions_[place] = std::move(action);
  heap_.push_back({std::max(time, now_), scheduled_++, place});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool EventQueue::step(Time limit) {
  if (heap_.empty() || heap_.front().time > limit) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Event event = heap_.back();
  heap_.pop_back();
  now_ = event.time;
  ++happened_;
  // The action goes when it has happened, with what it holds, and may schedule others meanwhile.
  const Action action = std::exchange(actions_[event.place], nullptr);
  free_.push_back(event.place);
  action();
  return true;
}

void EventQueue::advance(Time time) {
  SPINDLE_CHECK(time >= now_);
  SPINDLE_CHECK(heap_.empty() || heap_.front().time >= time);
  now_ = time;
}

}  // namespace spindled::sim
