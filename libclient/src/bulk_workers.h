// Threads that do what takes long, or touches a file.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace spindle {

/// The thread that calls it gives way to others from now on (`nice`, which each thread of Linux has for itself): where
/// another of its session or control group wants all of a processor, it has a twentieth.
void give_way();

/// How many jobs there are at a time is bounded by whoever makes them.
class BulkWorkers {
 public:
  using Job = std::function<void()>;

  /// Throws std::system_error where there can be no more: those that have begun wait for `stop`.
  void start(unsigned threads);
  void add(Job job);
  /// Returns when all jobs are over.
  void drain();
  /// Jobs that have not begun are dropped; returns when the others are over.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards what follows
  std::condition_variable news_;
  std::condition_variable idle_;
  std::deque<Job> jobs_;
  std::size_t under_way_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace spindle
