// When messages that follow one another are written.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "libclient/src/socket.h"

namespace spindle::python {

/// Has who sends one message after the other leave them to whoever writes next, as long as they are few: a system call
/// for each would cost most of what sending does. Who sends need not come back: somebody else is told, so that they are
/// written all the same. To wake a thread for that costs more than the messages do, so that one that is awake looks
/// again and again, and is told no more: it watches. All calls but look_out() exclude each other.
class Gathering {
 public:
  /// What the sender of a message has to do.
  enum class Next {
    nothing,  // somebody knows that there is something to be written
    write,
    tell,  // somebody else
  };
  /// What who has watched for a while has to do.
  enum class Sight {
    go_on,
    write,  // what has gathered
    end,    // nothing has gathered meanwhile
  };

  /// A message has been sent; so many bytes are to be written now.
  Next sent(Deadline now, std::size_t bytes) {
    const auto gap = now - last_;
    last_ = now;
    const bool is_burst = gap <= kBurst;
    const bool was_burst = std::exchange(is_burst_, is_burst);
    // The first one of who has sent several last time waits for those that are likely to follow.
    if ((!is_burst && !was_burst) || bytes > kGatheredBytes) return Next::write;
    has_gathered_ = true;
    is_waiting_.store(true, std::memory_order_relaxed);
    if (is_told_ || (is_watched_ && !is_polled_)) return Next::nothing;
    is_told_ = true;
    return Next::tell;
  }
  /// The sender has written: what it sends next follows at once.
  void wrote(Deadline now) { last_ = now; }
  /// Somebody begins to write all there is.
  void begin_writing() {
    is_told_ = false;
    is_waiting_.store(false, std::memory_order_relaxed);
    writings_.fetch_add(1, std::memory_order_relaxed);
  }
  /// A thread waits for what the socket brings, and can be woken to write. While one does, the watch is not relied
  /// upon: that thread is there sooner.
  void set_polled(bool is_polled) { is_polled_ = is_polled; }

  /// Somebody looks out from now on.
  void begin_watching() {
    is_watched_ = true;
    has_gathered_ = false;
  }
  /// For some 20 ms, or until something has waited for a millisecond.
  void look_out() {
    for (int look = 0; look < kLooks && !is_called_.exchange(false, std::memory_order_relaxed); ++look) {
      const unsigned before = writings_.load(std::memory_order_relaxed);
      std::this_thread::sleep_for(kLook);
      if (is_waiting_.load(std::memory_order_relaxed) && writings_.load(std::memory_order_relaxed) == before) return;
    }
  }
  /// Behind look_out().
  Sight end_watching() {
    if (is_waiting_.load(std::memory_order_relaxed)) return Sight::write;
    is_watched_ = has_gathered_;
    return is_watched_ ? Sight::go_on : Sight::end;
  }
  /// Has who looks out return.
  void call_back() { is_called_.store(true, std::memory_order_relaxed); }

 private:
  /// Who sends the next message within this time does nothing else.
  static constexpr std::chrono::microseconds kBurst{20};
  static constexpr std::size_t kGatheredBytes = 64u << 10;
  static constexpr std::chrono::milliseconds kLook{1};
  static constexpr int kLooks = 20;

  Deadline last_{};
  bool is_told_ = false;
  bool is_burst_ = false;  // the last message followed another one at once
  bool is_polled_ = false;
  bool is_watched_ = false;
  bool has_gathered_ = false;            // some message has, since the watch began
  std::atomic<bool> is_waiting_{false};  // some message that has gathered
  std::atomic<bool> is_called_{false};   // who looks out
  std::atomic<unsigned> writings_{0};    // that have begun
};

}  // namespace spindle::python
