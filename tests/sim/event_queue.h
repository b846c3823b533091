// The virtual clock of a simulation and what is going to happen on it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/base/time.h"
#include "tests/sim/event_action.h"

namespace spindled::sim {

/// Events happen in the order of (time, sequence in which they were scheduled), so that a run never depends on how a
/// heap breaks ties.
class EventQueue {
 public:
  using Action = EventAction;

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
    std::uint64_t order;  // the sequence, and below it the place of the action: no two have the same sequence

    bool operator<(const Event& other) const { return time != other.time ? time < other.time : order < other.order; }
  };
  static constexpr unsigned kPlaceBits = 24;
  static constexpr std::size_t kBlockActions = 256;
  /// Children of a node of the heap. They lie in one line of the cache or two, and the way down is half as long as that
  /// of two.
  static constexpr std::size_t kChildren = 4;

  using Block = std::array<Action, kBlockActions>;

  Action& action(std::uint32_t place) { return (*blocks_[place / kBlockActions])[place % kBlockActions]; }
  void push(const Event& event);
  Event pop();

  // Far from zero, which stands for "no time" in the core.
  Time now_{std::chrono::hours(1)};
  std::uint64_t scheduled_ = 0;
  std::uint64_t happened_ = 0;
  std::vector<Event> heap_;  // the earliest first
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::uint32_t> free_;  // places of actions
};

}  // namespace spindled::sim
