// Says which part of a program's work is to be counted.
#pragma once

namespace spindled::bench {

/// Callgrind counts while it is inside of this function, and stops where it is called from within itself: so
/// `--toggle-collect` with its name leaves out what surrounds the work, and what is in the middle of it.
extern "C" void spindle_toggle_count(void (*work)(void*), void* argument);

/// Before `start` nothing is counted, and nothing afterwards but what runs in `counted`.
class Meter {
 public:
  void start() { is_started_ = true; }

  template <typename Work>
  void counted(Work&& work) {
    run(true, work);
  }
  /// For what stands for the world outside, and is called from counted work.
  template <typename Work>
  void not_counted(Work&& work) {
    run(false, work);
  }

 private:
  template <typename Work>
  void run(bool count, Work& work) {
    if (!is_started_ || count == counts_) return work();
    counts_ = count;
    const auto call = [](void* what) { (**static_cast<Work**>(what))(); };
    Work* what = &work;
    spindle_toggle_count(call, static_cast<void*>(&what));
    counts_ = !count;
  }

  bool is_started_ = false;
  bool counts_ = false;
};

}  // namespace spindled::bench
