// Where a thread waits for what another one will say.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "libclient/src/socket.h"

namespace spindle {

template <typename T>
class Answer {
 public:
  void give(T value) {
    const std::lock_guard lock(mutex_);
    value_.emplace(std::move(value));
    given_.notify_all();
  }
  /// Nothing at the deadline, or where a stop is requested, which wake() has looked at.
  std::optional<T> wait(Deadline deadline, const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return value_.has_value() || stop.stop_requested(); };
    if (deadline == Deadline::max()) {
      given_.wait(lock, is_over);
    } else {
      given_.wait_until(lock, deadline, is_over);
    }
    return std::move(value_);
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    given_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<T> value_;
};

}  // namespace spindle
