// The events that a connection has received and nobody has asked for yet.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "libclient/src/feed_events.h"
#include "libclient/src/socket.h"
#include "spindle/event.h"

namespace spindle {

/// One thread pushes, any number take. Events travel in batches: the lock between the two sides is taken once for a
/// batch, not for an event.
class EventQueue {
 public:
  /// Smaller batches are put together.
  static constexpr std::size_t kBatchBytes = 64u << 10;

  /// Full beyond `limit_bytes`, until resume_bytes(limit_bytes) are left; `on_room` is then called by the thread that
  /// takes.
  EventQueue(std::size_t limit_bytes, std::function<void()> on_room)
      : limit_bytes_(limit_bytes), on_room_(std::move(on_room)), feeds_(limit_bytes / 2) {}

  /// An eighth of the limit, or 64 KiB, or half of a limit that is smaller yet, is free again. Soon, because a daemon
  /// takes a client that reads nothing for long for one that hangs; not at once, so that a read is worth its while.
  static constexpr std::size_t resume_bytes(std::size_t limit_bytes) {
    return limit_bytes - std::max(limit_bytes / 8, std::min(limit_bytes / 2, kBatchBytes));
  }

  /// Takes `events`, in all of `bytes` bytes, and leaves an empty vector. Pushing never waits and never fails: it is
  /// for the pusher to stop while the queue is full.
  void push(std::vector<Event>& events, std::size_t bytes);
  /// Likewise events of feeds, which are in no order with others and never make the queue full: the oldest are dropped
  /// (FeedEvents). None come behind Disconnected.
  void push_feeds(std::vector<Event>& events);
  bool is_full() const { return full_.load(std::memory_order_relaxed); }

  /// The next event, if one waits.
  std::optional<Event> take();
  /// The same, in place of `event`; whether one waited.
  bool take(Event& event);
  /// The next event; nothing once `deadline` has passed or Disconnected was taken, or where none waits and a stop is
  /// requested, which wake() has looked at.
  std::optional<Event> wait(std::optional<Deadline> deadline, const std::stop_token* stop = nullptr);
  void wake();
  /// Whether Disconnected was taken.
  bool finished() const;

  /// Readable while events wait; made by the first call. -1 if that fails.
  int descriptor();

 private:
  struct Batch {
    std::vector<Event> events;
    std::size_t bytes = 0;
  };

  bool next_batch();
  void note_finished();
  void note_arrival();
  bool has_events() const { return !batches_.empty() || !feeds_.empty() || left_.load(std::memory_order_relaxed) > 0; }

  const std::size_t limit_bytes_;
  const std::function<void()> on_room_;

  // The taking side. Where both locks are held, this one was taken first.
  std::mutex take_mutex_;
  Batch taken_;
  std::size_t next_ = 0;               // in `taken_`
  std::atomic<std::size_t> left_ = 0;  // of `taken_`; written under `take_mutex_`

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::deque<Batch> batches_;
  FeedEvents feeds_;
  bool feeds_are_next_ = false;  // they take turns with batches
  bool has_last_ = false;        // of all: feeds go first
  std::vector<Event> spare_;
  std::size_t bytes_ = 0;  // of `batches_` and `taken_`
  std::atomic<bool> full_ = false;
  std::size_t waiters_ = 0;
  bool finished_ = false;
  Descriptor descriptor_;
  bool raised_ = false;
};

}  // namespace spindle
