// How far contents are, for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "spindle/event.h"

namespace spuser {

/// "1.5 GB": powers of a thousand.
std::string human_bytes(std::uint64_t bytes);
/// "1:05" or "2:03:04".
std::string human_time(std::chrono::seconds time);

/// Shows progress on standard error: on a terminal as a bar that is drawn anew in place, otherwise as a line every five
/// seconds. The bar is of the content that has told its progress last.
class Progress {
 public:
  Progress();
  /// Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const spindle::ChannelId& channel, std::string_view name);
  void note(const spindle::BulkProgress& progress);
  /// No more of it is shown. How long it took.
  std::chrono::duration<double> end(const spindle::ChannelId& channel);
  /// A line that stays, above the bar, on standard error.
  void say(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  struct Content {
    std::string name;
    Clock::time_point begin, shown;
  };

  void clear();

  const bool is_terminal_;
  bool has_bar_ = false;
  std::map<spindle::ChannelId, Content> contents_;
};

}  // namespace spuser
