// SIGINT and SIGTERM, as something that can be waited for.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace spuser {

/// Make it before any other thread, so that none of them is interrupted. After the first signal the program has two
/// seconds to end; a second signal ends it at once.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The number of the signal that has come; 0: none.
  int received() const { return received_; }
  /// Readable once a signal has come.
  int descriptor() const { return came_; }
  /// Called when a signal comes, by another thread; once this returns, the former handler neither runs nor will.
  void set_handler(std::function<void()> handler);

 private:
  void run();
  void take_signal();

  int signal_descriptor_ = -1;
  int came_ = -1;  // event descriptors
  int quit_ = -1;
  std::atomic<int> received_ = 0;
  std::mutex mutex_;  // guards handler_, and is held while it runs
  std::function<void()> handler_;
  std::thread thread_;
};

}  // namespace spuser
