// Messages at a fixed rate to groups that an attack has nothing to do with.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "spindle/connection.h"
#include "tests/integration/daemon.h"

namespace spindle::test {

/// A client sends so many messages a second to some groups in turn, whatever comes of them; another one, a member of
/// all, reads. Runs from construction to destruction.
class Stream {
 public:
  struct Load {
    std::size_t groups = 10;
    double rate = 1000;  // messages a second, of all groups together
    std::size_t bytes = 1000;
  };

  Stream(Daemon& sending, Daemon& receiving, const Load& load);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  /// What was delivered since this was asked last, as a share of what was due to be sent.
  double take_share();
  /// Empty, or what happened to one of the two that should not.
  std::string trouble();

 private:
  void send();
  void receive();
  void fail(const std::string& why);

  Load load_;
  std::vector<std::string> groups_;
  Connection sender_;
  Connection receiver_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> received_ = 0;
  std::uint64_t taken_ = 0;
  Clock::time_point since_{};
  std::mutex mutex_;
  std::string trouble_;
  std::thread sending_thread_;
  std::thread receiving_thread_;
};

}  // namespace spindle::test
