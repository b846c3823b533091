// The log lines of all simulated hosts, the last of which are printed when a scenario fails.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "daemon/base/log.h"
#include "tests/sim/event_queue.h"

namespace spindled::sim {

/// Keeps the last lines of all hosts, in the order written.
class SimLog {
 public:
  /// Told of each line of a host as it is written, from within the turn of that host.
  using Listener = std::function<void(std::string_view host, LogLevel, std::string_view room, std::string_view line)>;

  SimLog(const EventQueue& events, LogLevel level, bool echo) : events_(&events), level_(level), echo_(echo) {}

  /// A line of its own for what the scenario does to the hosts.
  void note(std::string_view line);
  void write(std::string_view host, LogLevel level, std::string_view room, std::string_view line);
  bool wants(LogLevel level) const { return level >= level_; }
  void listen(Listener listener) { listener_ = std::move(listener); }

  /// At most `lines` of the last lines, oldest first.
  std::string tail(std::size_t lines = 200) const;
  /// How many of the lines kept contain `text`.
  std::size_t count(std::string_view text) const;

 private:
  static constexpr std::size_t kLinesMax = 4000;

  void keep(std::string line);

  const EventQueue* events_;
  LogLevel level_;
  bool echo_;
  Listener listener_;
  std::deque<std::string> lines_;
};

/// The sink that one host's node writes to.
class HostLog final : public LogSink {
 public:
  HostLog(SimLog& log, std::string host) : log_(&log), host_(std::move(host)) {}
  bool wants(LogLevel level) const override { return log_->wants(level); }
  void write(LogLevel level, std::string_view room, std::string_view line) override {
    log_->write(host_, level, room, line);
  }

 private:
  SimLog* log_;
  std::string host_;
};

}  // namespace spindled::sim
