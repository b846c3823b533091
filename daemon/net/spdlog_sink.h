// The log of a real daemon: standard error or a file, by spdlog.
#pragma once

#include <memory>
#include <string>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/config/daemon_config.h"

namespace spdlog {
class logger;
}

namespace spindled {

/// A log that cannot be written (a full disk, a file that cannot be opened again) loses lines and says so on standard
/// error, at most once a minute; it never stops the daemon.
class SpdlogSink final : public LogSink {
 public:
  /// Fails where the file cannot be opened.
  static Result<std::unique_ptr<SpdlogSink>> open(const LogConfig& config);
  ~SpdlogSink() override;

  /// Opens the file by its name again, which makes room for whoever rotates logs; keeps the old one where that fails.
  void reopen();

  bool wants(LogLevel level) const override { return level >= config_.level; }
  void write(LogLevel level, std::string_view room, std::string_view line) override;

 private:
  explicit SpdlogSink(const LogConfig& config);
  Result<std::unique_ptr<spdlog::logger>> make_logger();

  const LogConfig config_;
  std::unique_ptr<spdlog::logger> logger_;
};

}  // namespace spindled
