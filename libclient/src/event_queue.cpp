#include "libclient/src/event_queue.h"

#include <iterator>

namespace spindle {

void EventQueue::push(std::vector<Event>& events, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  has_last_ = has_last_ || (!events.empty() && events.back().is<Disconnected>());
  if (!batches_.empty() && batches_.back().bytes < kBatchBytes) {
    Batch& last = batches_.back();
    last.events.insert(last.events.end(), std::make_move_iterator(events.begin()),
                       std::make_move_iterator(events.end()));
    last.bytes += bytes;
    events.clear();
  } else {
    batches_.push_back({std::move(events), bytes});
    events = std::move(spare_);
    events.clear();
    spare_ = std::vector<Event>();
  }
  bytes_ += bytes;
  if (bytes_ > limit_bytes_) full_.store(true, std::memory_order_relaxed);
  note_arrival();
}

void EventQueue::push_feeds(std::vector<Event>& events) {
  const std::lock_guard lock(mutex_);
  feeds_.push(events);
  note_arrival();
}

// The caller holds `mutex_`.
void EventQueue::note_arrival() {
  if (waiters_ > 0) arrived_.notify_all();
  if (descriptor_ && !raised_) {
    raise_event(descriptor_);
    raised_ = true;
  }
}

// Gives back what was taken and fetches more, if there is more. The caller holds `take_mutex_`.
bool EventQueue::next_batch() {
  bool room = false;
  {
    const std::lock_guard lock(mutex_);
    bytes_ -= taken_.bytes;
    if (full_.load(std::memory_order_relaxed) && bytes_ <= resume_bytes(limit_bytes_)) {
      full_.store(false, std::memory_order_relaxed);
      room = true;
    }
    taken_.bytes = 0;
    taken_.events.clear();
    next_ = 0;
    const bool feeds_go = !feeds_.empty() && (feeds_are_next_ || has_last_ || batches_.empty());
    feeds_are_next_ = !feeds_go;
    if (feeds_go) {
      feeds_.take(taken_.events, kBatchBytes);
      if (waiters_ > 0 && taken_.events.size() > 1) arrived_.notify_all();
    } else if (!batches_.empty()) {
      if (taken_.events.capacity() > spare_.capacity()) spare_ = std::move(taken_.events);
      taken_ = std::move(batches_.front());
      batches_.pop_front();
      if (waiters_ > 0 && taken_.events.size() > 1) arrived_.notify_all();
    } else if (raised_) {
      clear_event(descriptor_);
      raised_ = false;
    }
    left_.store(taken_.events.size(), std::memory_order_relaxed);
  }
  if (room) on_room_();
  return !taken_.events.empty();
}

std::optional<Event> EventQueue::take() {
  std::optional<Event> event(std::in_place);
  if (!take(*event)) event.reset();
  return event;
}

bool EventQueue::take(Event& event) {
  {
    const std::lock_guard lock(take_mutex_);
    if (next_ == taken_.events.size() && !next_batch()) return false;
    event = std::move(taken_.events[next_++]);
    left_.store(taken_.events.size() - next_, std::memory_order_relaxed);
    if (next_ == taken_.events.size()) next_batch();
  }
  if (event.is<Disconnected>()) note_finished();
  return true;
}

void EventQueue::note_finished() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  arrived_.notify_all();
}

std::optional<Event> EventQueue::wait(std::optional<Deadline> deadline, const std::stop_token* stop) {
  while (true) {
    if (std::optional<Event> event = take()) return event;
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return finished_ || (stop != nullptr && stop->stop_requested()); };
    const auto ready = [&] { return has_events() || is_over(); };
    ++waiters_;
    bool in_time = true;
    if (deadline) {
      in_time = arrived_.wait_until(lock, *deadline, ready);
    } else {
      arrived_.wait(lock, ready);
    }
    --waiters_;
    if (!in_time || (!has_events() && is_over())) return std::nullopt;
  }
}

void EventQueue::wake() {
  const std::lock_guard lock(mutex_);
  arrived_.notify_all();
}

bool EventQueue::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

int EventQueue::descriptor() {
  const std::lock_guard lock(mutex_);
  if (!descriptor_) {
    descriptor_ = make_event_descriptor();
    raised_ = descriptor_ && has_events();
    if (raised_) raise_event(descriptor_);
  }
  return descriptor_.get();
}

}  // namespace spindle
