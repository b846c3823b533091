// The log of a real daemon: standard error or a file, written by a thread of its own. The daemon only queues lines, so
// that a log that nobody reads, a full disk or a file system that does not answer holds up neither it nor its clients.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/config/daemon_config.h"

namespace spindled {

/// The queue is bounded. A line that finds it full is lost, and so is one that cannot be written; where lines were
/// lost, a line in the log tells how many, as soon as the log is read again. Of lines of one kind LogLimiter leaves
/// some out.
class DaemonLog final : public LogSink {
 public:
  /// Fails where the file cannot be opened.
  static Result<std::unique_ptr<DaemonLog>> open(const LogConfig& config);
  DaemonLog(const DaemonLog&) = delete;
  DaemonLog& operator=(const DaemonLog&) = delete;
  /// Waits a little for the queue to be written. Leaves the thread behind where the log holds it up.
  ~DaemonLog() override;

  /// Opens the file by its name again, which makes room for whoever rotates logs, once what is queued is written; keeps
  /// the old one where that fails.
  void reopen();
  /// From here on no line is lost for want of room, or left out: the daemon is about to end.
  void lift_bounds();
  /// Waits until all is written, at most this long. Whether it is.
  bool drain(std::chrono::milliseconds patience);

  // LogSink
  bool wants(LogLevel level) const override { return level >= level_; }
  void set_level(LogLevel level) { level_ = level; }
  void write(LogLevel level, std::string_view room, std::string_view line) override;
  void write_of_kind(LogLevel level, std::string_view room, std::string_view kind, std::string_view line) override;
  LogLosses losses() const override;

 private:
  struct Shared;

  DaemonLog(LogLevel level, std::shared_ptr<Shared> shared);

  LogLevel level_;
  const std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this
  std::thread thread_;
};

}  // namespace spindled
