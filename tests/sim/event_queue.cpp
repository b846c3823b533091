#include "tests/sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled::sim {

void EventQueue::at(Time time, Action action) {
  heap_.push_back({std::max(time, now_), scheduled_++, std::move(action)});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool EventQueue::step(Time limit) {
  if (heap_.empty() || heap_.front().time > limit) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.time;
  ++happened_;
  event.action();
  return true;
}

void EventQueue::advance(Time time) {
  SPINDLE_CHECK(time >= now_);
  SPINDLE_CHECK(heap_.empty() || heap_.front().time >= time);
  now_ = time;
}

}  // namespace spindled::sim
