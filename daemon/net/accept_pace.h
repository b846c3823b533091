// How fast a listener accepts.
#pragma once

#include <chrono>

namespace spindled {

/// Whoever connects without end takes a share of the daemon's time: after so many connections the next ones wait until
/// the daemon has been idle for as long as it has worked since, whatever it worked on, or for kLongestRest. That leaves
/// some hundred a second to a busy daemon, and some thousand to an idle one.
class AcceptPace {
 public:
  static constexpr int kAcceptsAtOnce = 32;
  static constexpr auto kLongestRest = std::chrono::milliseconds(50);

  /// One was accepted.
  void accepted();
  bool needs_rest() const { return accepts_ >= kAcceptsAtOnce; }
  /// Whether it is over; then another so many may come.
  bool has_rested();

 private:
  using Clock = std::chrono::steady_clock;
  int accepts_ = 0;
  Clock::time_point since_{};                // of the first of them
  std::chrono::nanoseconds worked_since_{};  // this thread, by then
};

}  // namespace spindled
