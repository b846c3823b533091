#include "tests/sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled::sim {

void EventQueue::at(Time time, Action action_of_it) {
  if (free_.empty()) {
    const std::size_t first = blocks_.size() * kBlockActions;
    SPINDLE_CHECK(first + kBlockActions <= std::size_t{1} << kPlaceBits);
    blocks_.push_back(std::make_unique<Block>());
    for (std::size_t i = kBlockActions; i > 0; --i) free_.push_back(static_cast<std::uint32_t>(first + i - 1));
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  action(place) = std::move(action_of_it);
  push({std::max(time, now_), scheduled_++ << kPlaceBits | place});
}

bool EventQueue::step(Time limit) {
  if (heap_.empty() || heap_.front().time > limit) return false;
  const Event event = pop();
  now_ = event.time;
  ++happened_;
  // The action goes when it has happened, with what it holds, and may schedule others meanwhile: its place is not
  // theirs.
  const auto place = static_cast<std::uint32_t>(event.order & ((1u << kPlaceBits) - 1));
  Action& due = action(place);
  due();
  due.reset();
  free_.push_back(place);
  return true;
}

void EventQueue::push(const Event& event) {
  std::size_t at = heap_.size();
  heap_.push_back(event);
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (!(event < heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = event;
}

EventQueue::Event EventQueue::pop() {
  const Event first = heap_.front();
  const Event last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  if (size == 0) return first;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = at * kChildren + 1;
    if (begin >= size) break;
    const std::size_t end = std::min(begin + kChildren, size);
    std::size_t least = begin;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (heap_[i] < heap_[least]) least = i;
    }
    if (!(heap_[least] < last)) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = last;
  return first;
}

void EventQueue::advance(Time time) {
  SPINDLE_CHECK(time >= now_);
  SPINDLE_CHECK(heap_.empty() || heap_.front().time >= time);
  now_ = time;
}

}  // namespace spindled::sim
