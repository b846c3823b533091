// Where the core's log lines go. The driver gives the sink; the simulator captures them as transcripts.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace spindled {

enum class LogLevel : unsigned char { debug, info, warning, error };

/// Lines that were written and never came out, since the start.
struct LogLosses {
  std::uint64_t lost = 0;      // nobody read the log, or it could not be written
  std::uint64_t left_out = 0;  // there were too many lines of their kind
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool wants(LogLevel level) const = 0;
  /// `room` names the layer that speaks: "link", "view", ... Never waits for whoever reads the log.
  virtual void write(LogLevel level, std::string_view room, std::string_view line) = 0;
  /// The same for lines that somebody outside can cause without end. `kind`, the format that they share, lives as long
  /// as the program; a sink may leave lines out where there are many of a kind.
  virtual void write_of_kind(LogLevel level, std::string_view room, std::string_view /*kind*/, std::string_view line) {
    write(level, room, line);
  }
  virtual LogLosses losses() const { return {}; }
};

/// A layer's handle on the sink: its name, and formatting that costs nothing where nobody listens.
class Log {
 public:
  Log(LogSink& sink, std::string_view room) : sink_(&sink), room_(room) {}

  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::debug, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::info, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::warning, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::error, format, std::forward<Args>(args)...);
  }

 private:
  template <typename... Args>
  void write(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (!sink_->wants(level)) return;
    const fmt::string_view kind = format;
    sink_->write_of_kind(level, room_, {kind.data(), kind.size()}, fmt::format(format, std::forward<Args>(args)...));
  }

  LogSink* sink_;
  std::string_view room_;
};

}  // namespace spindled
