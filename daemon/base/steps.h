// Work that takes more than one turn.
#pragma once

#include <deque>
#include <functional>

#include "daemon/base/time.h"
#include "daemon/base/turn_work.h"

namespace spindled {

/// Tasks, one behind the other, each of which is done in steps. A task that is `add`ed begins at once where nothing is
/// before it and the turn is not over; the rest is done by `go_on` in the turns that follow. A task may add others,
/// which come behind all that are there.
class Steps {
 public:
  /// Does one step, and says whether the task is done. It may be copied before the first one.
  using Task = std::function<bool(Time now)>;

  explicit Steps(TurnWork& turn) : turn_(turn) {}

  bool empty() const { return tasks_.empty(); }
  void add(Time now, Task task) {
    tasks_.push_back(std::move(task));
    go_on(now);
  }
  void go_on(Time now) {
    if (in_step_) return;
    in_step_ = true;
    while (!tasks_.empty() && !turn_.is_over()) {
      turn_.begin_step();
      if (tasks_.front()(now)) tasks_.pop_front();
    }
    in_step_ = false;
  }

 private:
  TurnWork& turn_;
  std::deque<Task> tasks_;
  bool in_step_ = false;
};

}  // namespace spindled
