// The virtual clock of a simulation and what is going to happen on it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/base/time.h"

namespace spindled::sim {

/// Events happen in the order of (time, sequence in which they were scheduled), so that a run never depends on how a
/// heap breaks ties.
class EventQueue {
 public:
  using Action = std::function<void()>;

  Time now() const { return now_; }
  /// Schedules `action`; a time in the past means now.
  void at(Time time, Action action);
  void after(Duration delay, Action action) { at(now_ + delay, std::move(action)); }

  /// Whether the next event comes no later than `limit`; if so the clock moves to it and it happens.
  bool step(Time limit);
  /// Moves the clock without an event; `time` is not before `now()`, and no event is due before it.
  void advance(Time time);

  bool empty() const { return heap_.empty(); }
  std::uint64_t happened() const { return happened_; }

 private:
  // What is moved about in the heap is small: the action stays in its place.
  struct Event {
    Time time;
    std::uint64_t sequence;
    std::uint32_t place;  // in `actions_`
  };
  static bool later(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
  }

  // Far from zero, which stands for "no time" in the core.
  Time now_{std::chrono::hours(1)};
  std::uint64_t scheduled_ = 0;
  std::uint64_t happened_ = 0;
  std::vector<Event> heap_;
  std::vector<Action> actions_;
  std::vector<std::uint32_t> free_;  // places in `actions_`
};

}  // namespace spindled::sim
