// Where a thread waits for what another one will say.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
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
  /// Nothing at the deadline.
  std::optional<T> wait(Deadline deadline) {
    std::unique_lock lock(mutex_);
    const auto is_given = [this] { return value_.has_value(); };
    if (deadline == Deadline::max()) {
      given_.wait(lock, is_given);
    } else if (!given_.wait_until(lock, deadline, is_given)) {
      return std::nullopt;
    }
    return std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<T> value_;
};

}  // namespace spindle
