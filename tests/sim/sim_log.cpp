#include "tests/sim/sim_log.h"

#include <algorithm>
#include <cstdio>

namespace spindled::sim {

namespace {

constexpr std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

}  // namespace

void SimLog::note(std::string_view line) {
  keep(fmt::format("{:12.6f} ---- {}", to_seconds(events_->now().time_since_epoch()), line));
}

void SimLog::write(std::string_view host, LogLevel level, std::string_view room, std::string_view line) {
  if (listener_) listener_(host, level, room, line);
  keep(fmt::format("{:12.6f} {} {} {}: {}", to_seconds(events_->now().time_since_epoch()), host, name_of(level), room,
                   line));
}

void SimLog::keep(std::string line) {
  if (echo_) fmt::print(stderr, "{}\n", line);
  lines_.push_back(std::move(line));
  if (lines_.size() > kLinesMax) lines_.pop_front();
}

std::string SimLog::tail(std::size_t lines) const {
  std::string text;
  for (std::size_t i = lines_.size() - std::min(lines, lines_.size()); i < lines_.size(); ++i) {
    text += lines_[i];
    text += '\n';
  }
  return text;
}

std::size_t SimLog::count(std::string_view text) const {
  return static_cast<std::size_t>(std::count_if(
      lines_.begin(), lines_.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

}  // namespace spindled::sim
