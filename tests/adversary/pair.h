// Two clients that have nothing to do with an attack: what they keep of their rate is what the attack is judged by.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "spindle/connection.h"
#include "tests/integration/daemon.h"

namespace spindle::test {

/// What the pair got done in a span of time.
struct PairFigures {
  double rate = 0;        // round trips a second
  double median_ms = 0;   // of a round trip
  double p99_ms = 0;      // a round trip that is under way at the end of the span counts with its age
  double longest_ms = 0;  // likewise
};

/// One asks, the other answers, each with an agreed message to a group of the two; the next question follows the
/// answer at once. Runs from construction to destruction.
class Pair {
 public:
  Pair(Daemon& asking, Daemon& answering);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair();

  void start_measuring();
  PairFigures stop_measuring();
  /// An answer has come since measuring began.
  bool has_been_answered();
  /// Views of the group that the two have got since they were alone together.
  std::uint64_t views() const { return views_; }
  /// Empty, or what happened to one of the two that should not.
  std::string trouble();

 private:
  void ask();
  void answer();
  void fail(const std::string& why);
  void note_view() { ++views_; }
  void note_question();
  void note_answer();

  Connection asking_;
  Connection answering_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> views_ = 0;
  std::mutex mutex_;
  std::vector<double> round_trips_;  // milliseconds
  Clock::time_point measured_since_{};
  Clock::time_point asked_at_{};
  std::string trouble_;
  std::thread asking_thread_;
  std::thread answering_thread_;
};

}  // namespace spindle::test
