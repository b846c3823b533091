// One program run by a test: started, listened to, and ended on every path.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libclient/src/socket.h"
#include "tests/support/files.h"

namespace spindle::test {

using Clock = std::chrono::steady_clock;

/// A wait that takes this long has failed. Nothing but failures takes this long, however busy the machine is.
inline constexpr std::chrono::seconds kPatience{30};
/// The same of a whole program that has much to do by itself, such as a compiler, or one that carries a large file.
inline constexpr std::chrono::seconds kProgramPatience{100};

struct ProcessOptions {
  std::vector<std::string> arguments;    // those behind the name of the program
  std::vector<std::string> environment;  // "NAME=value"; nothing else is inherited
  std::string network_namespace;         // as `ip netns` names it; empty: that of the test
  bool private_tmp = false;              // sees an empty /tmp of its own; for root only
  /// Its standard error is a pipe of one page that nobody reads before `read_error`.
  bool unread_error = false;
  int input = -1;                   // its standard input; -1: nothing to read
  int output = -1;                  // its standard output; -1: a pipe that Process reads
  std::size_t descriptors_max = 0;  // the limit, soft and hard; 0: that of the test
};

class Process {
 public:
  enum class Stream { out, error };
  struct Line {
    Clock::time_point at;  // when the test read it
    Stream stream;
    std::string text;
  };

  /// Throws std::system_error where the program cannot be started.
  Process(const std::string& program, const ProcessOptions& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills it where it still runs.
  ~Process();

  pid_t id() const { return id_; }
  /// Begins to read what ProcessOptions::unread_error has left unread.
  void read_error();
  void signal(int number);
  /// Waits for the end; throws where that does not come in time. The exit code, or the negative number of the signal
  /// that ended it.
  int wait(std::chrono::milliseconds patience = kPatience);

  /// Waits for a line that contains `text`, among all or those from number `from` on. Throws where the process ends or
  /// patience does without one.
  Line wait_for_line(std::string_view text, std::size_t from = 0);
  std::size_t line_count();
  /// All that it wrote to `stream` so far; everything, once `wait` has returned.
  std::string output(Stream stream);
  /// Both streams, for whoever has to find out what went wrong.
  std::string transcript();

 private:
  void read_output(Descriptor pipe, Stream stream);
  void start_reading(Descriptor pipe, Stream stream);

  pid_t id_ = -1;
  Descriptor handle_;  // a pidfd
  bool ended_ = false;
  int exit_code_ = 0;

  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<Line> lines_;
  int open_ = 0;  // streams that are being read
  Descriptor unread_error_;
  std::vector<std::thread> readers_;
};

struct Finished {
  int code = 0;  // as from Process::wait
  std::string out;
  std::string error;
};

/// Runs a program to its end.
Finished run(const std::string& program, const ProcessOptions& options, std::chrono::milliseconds patience = kPatience);

/// Waits until `condition` holds, for what no event tells of; throws, naming `what`, when patience ends.
template <typename Condition>
void wait_until(std::string_view what, Condition condition) {
  const Clock::time_point end = Clock::now() + kPatience;
  while (!condition()) {
    if (Clock::now() > end) throw std::runtime_error("waited in vain for " + std::string(what));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace spindle::test
