// Where the core's log lines go. The driver gives the sink; the simulator captures them as transcripts.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace spindled {

enum class LogLevel : unsigned char { debug, info, warning, error };

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool wants(LogLevel level) const = 0;
  /// `room` names the layer that speaks: "link", "view", ...
  virtual void write(LogLevel level, std::string_view room, std::string_view line) = 0;
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
    if (sink_->wants(level)) sink_->write(level, room_, fmt::format(format, std::forward<Args>(args)...));
  }

  LogSink* sink_;
  std::string_view room_;
};

}  // namespace spindled
