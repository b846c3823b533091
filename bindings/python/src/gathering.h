// When messages that follow one another are written.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include "libclient/src/socket.h"

namespace spindle::python {

/// Has who sends one message after the other leave them to whoever writes next, as long as they are few: a system call
/// for each would cost most of what sending does.
class Gathering {
 public:
  /// What the sender of a message has to do.
  enum class Next {
    nothing,  // somebody knows that there is something to be written
    write,
    tell,  // somebody else
  };

  /// A message has been sent; so many bytes are to be written now.
  Next sent(Deadline now, std::size_t bytes) {
    const auto gap = now - last_;
    last_ = now;
    const bool is_burst = gap <= kBurst;
    const bool was_burst = std::exchange(is_burst_, is_burst);
    // The first one of who has sent several last time waits for those that are likely to follow.
    if ((!is_burst && !was_burst) || bytes > kGatheredBytes) return Next::write;
    if (is_told_) return Next::nothing;
    is_told_ = true;
    return Next::tell;
  }
  /// The sender has written: what it sends next follows at once.
  void wrote(Deadline now) { last_ = now; }
  /// Somebody begins to write all there is.
  void begin_writing() { is_told_ = false; }

 private:
  /// Who sends the next message within this time does nothing else.
  static constexpr std::chrono::microseconds kBurst{20};
  static constexpr std::size_t kGatheredBytes = 64u << 10;

  Deadline last_{};
  bool is_told_ = false;
  bool is_burst_ = false;  // the last message followed another one at once
};

}  // namespace spindle::python
