// What `spmonitor partition` is told on the command line.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spmonitor {

/// "a,b / c" in as many words as the shell made of it: "/" as a word of its own separates sides, commas and the ends of
/// words separate daemons. Sides may come out empty, for the daemon to complain of.
inline std::vector<std::vector<std::string>> parse_sides(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> sides(1);
  for (const std::string& word : words) {
    if (word == "/") {
      sides.emplace_back();
      continue;
    }
    for (std::size_t begin = 0; begin <= word.size();) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      if (end > begin) sides.back().push_back(word.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return sides;
}

/// "90", "90s", "1500ms", "5m", "1h"; nothing for anything else, zero, and more than a year.
inline std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::int64_t kMillisecondsMax = std::int64_t{366} * 86'400'000;
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || number > kMillisecondsMax) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  std::int64_t milliseconds = 0;
  if (unit == "ms") {
    milliseconds = 1;
  } else if (unit.empty() || unit == "s") {
    milliseconds = 1'000;
  } else if (unit == "m") {
    milliseconds = 60'000;
  } else if (unit == "h") {
    milliseconds = 3'600'000;
  }
  if (milliseconds == 0 || number > kMillisecondsMax / milliseconds) return std::nullopt;
  return std::chrono::milliseconds(number * milliseconds);
}

}  // namespace spmonitor
