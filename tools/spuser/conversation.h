// A connection to the daemon, and waiting for whatever comes next: an event, input, a signal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "spindle/connection.h"
#include "tools/spuser/output.h"
#include "tools/spuser/signals.h"

namespace spuser {

using Clock = std::chrono::steady_clock;

/// Waiting throws Exit when a signal comes; so does an event that says that the connection is over or that a join was
/// refused.
class Conversation {
 public:
  /// Throws Exit where there is no connection.
  Conversation(Signals& signals, Output& output, const spindle::ConnectOptions& options);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  spindle::Connection& connection() { return connection_; }

  /// Called with every event, but those that throw.
  using Handler = std::function<void(spindle::Event&&)>;
  void set_handler(Handler handler) { handler_ = std::move(handler); }
  /// The handler gets refusals, too, and they end nothing.
  void go_on_after_refusals() { refusals_end_ = false; }
  /// Waiting throws Exit, of kExitDone, when nobody reads standard output any more: that was what it was for.
  void end_without_readers() {
    readers_end_ = true;
    output_.end_without_readers();
  }

  /// Handles the events that are there; false if there are none.
  bool handle_events();
  /// Waits until `done`, which only events change.
  void wait_until(const std::function<bool()>& done);
  /// Handles events until `time`.
  void wait_until(Clock::time_point time);
  /// Handles events until `descriptor` can be read.
  void wait_readable(int descriptor);

  /// Throws Exit where a request failed.
  void check(std::error_code error);
  /// Sees to it that the daemon has taken all that was sent, and ends the connection.
  void finish();

 private:
  void handle(spindle::Event&& event);
  /// Waits for events, for `descriptor` (-1: none), or until `deadline`. Whether `descriptor` can be read.
  bool wait(int descriptor, std::optional<Clock::time_point> deadline);

  Signals& signals_;
  Output& output_;
  spindle::Connection connection_;
  Handler handler_;
  bool refusals_end_ = true;
  bool readers_end_ = false;
};

}  // namespace spuser
