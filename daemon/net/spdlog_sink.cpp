#include "daemon/net/spdlog_sink.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace spindled {

namespace {

constexpr auto kComplaintInterval = std::chrono::minutes(1);

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

/// Complains on standard error, but not about every line.
class Complaint {
 public:
  void operator()(const std::string& what) {
    const auto time = std::chrono::steady_clock::now();
    if (complained_ && time - last_ < kComplaintInterval) return;
    complained_ = true;
    last_ = time;
    std::fprintf(stderr, "spindled: cannot write the log: %s\n", what.c_str());
  }

 private:
  bool complained_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace

SpdlogSink::SpdlogSink(const LogConfig& config) : config_(config) {}
SpdlogSink::~SpdlogSink() = default;

Result<std::unique_ptr<SpdlogSink>> SpdlogSink::open(const LogConfig& config) {
  std::unique_ptr<SpdlogSink> sink(new SpdlogSink(config));
  Result<std::unique_ptr<spdlog::logger>> logger = sink->make_logger();
  if (!logger) return tl::unexpected(logger.error());
  sink->logger_ = std::move(*logger);
  return sink;
}

Result<std::unique_ptr<spdlog::logger>> SpdlogSink::make_logger() try {
  spdlog::sink_ptr sink;
  if (config_.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  } else {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(config_.file);
  }
  auto logger = std::make_unique<spdlog::logger>("spindled", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);  // there is no line per message, and the last lines before a crash matter
  logger->set_error_handler(Complaint());
  return logger;
} catch (const spdlog::spdlog_ex& error) {
  return fail(Errc::bad_configuration, error.what());
}

void SpdlogSink::reopen() {
  if (config_.file.empty()) return;
  Result<std::unique_ptr<spdlog::logger>> logger = make_logger();
  if (logger) {
    logger_ = std::move(*logger);
    write(LogLevel::info, "net", "log file opened again");
  } else {
    write(LogLevel::error, "net", logger.error().message());
  }
}

void SpdlogSink::write(LogLevel level, std::string_view room, std::string_view line) {
  if (!wants(level)) return;
  if (std::none_of(line.begin(), line.end(), is_control)) {
    logger_->log(to_spdlog(level), "{}: {}", room, line);
    return;
  }
  // Text of a peer must not look like lines of this log.
  std::string clean(line);
  std::replace_if(clean.begin(), clean.end(), is_control, '?');
  logger_->log(to_spdlog(level), "{}: {}", room, clean);
}

}  // namespace spindled
