// How long a call waits, and what ends it sooner.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "libclient/src/socket.h"

namespace spindle {

/// The end of what begins now and takes `timeout`; the last of all times where that is too far away to tell.
inline Deadline deadline_after(std::chrono::nanoseconds timeout) {
  const Deadline now = std::chrono::steady_clock::now();
  return timeout > Deadline::max() - now ? Deadline::max() : now + timeout;
}

/// Where so many are to be tried by `deadline`, the end of what the first of them has for itself.
inline Deadline share_of(Deadline deadline, std::size_t count) {
  const Deadline now = std::chrono::steady_clock::now();
  return now + (deadline - now) / static_cast<Deadline::rep>(count);
}

/// A timeout that begins where a call has to wait for the first time: most calls do not, and need not know the time.
class Patience {
 public:
  static Patience none() {
    Patience patience(std::chrono::nanoseconds{});
    patience.may_wait_ = false;
    return patience;
  }
  explicit Patience(std::chrono::nanoseconds timeout) : timeout_(timeout) {}
  explicit Patience(Deadline deadline) : deadline_(deadline) {}
  /// A stop ends it, too. The token stays where it is meanwhile.
  Patience(std::chrono::nanoseconds timeout, const std::stop_token& stop) : timeout_(timeout), stop_(&stop) {}
  Patience(Deadline deadline, const std::stop_token& stop) : deadline_(deadline), stop_(&stop) {}

  bool may_wait() const { return may_wait_; }
  Deadline deadline() {
    if (!deadline_) deadline_ = deadline_after(timeout_);
    return *deadline_;
  }
  /// Null where nobody can stop the call.
  const std::stop_token* stop() const { return stop_ != nullptr && stop_->stop_possible() ? stop_ : nullptr; }

 private:
  bool may_wait_ = true;
  std::chrono::nanoseconds timeout_{};
  std::optional<Deadline> deadline_;
  const std::stop_token* stop_ = nullptr;
};

}  // namespace spindle
