#include "tests/sim/script/arguments.h"

#include <fmt/format.h>

#include <charconv>

namespace spindled::sim {

void Arguments::fail(std::string_view text) const {
  throw ScriptError(file_, command_.line, fmt::format("{} (usage: {})", text, usage_));
}

const std::string& Arguments::word(std::string_view what) {
  if (at_end()) fail(fmt::format("{} is missing", what));
  return command_.words[next_++];
}

bool Arguments::take(std::string_view word) {
  if (at_end() || command_.words[next_] != word) return false;
  ++next_;
  return true;
}

void Arguments::expect(std::string_view word) {
  if (!take(word)) fail(fmt::format("\"{}\" is missing", word));
}

std::uint64_t Arguments::number(std::string_view what) {
  const std::string& text = word(what);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(fmt::format("{} is \"{}\", which is no number", what, text));
  }
  return value;
}

Duration Arguments::duration() {
  const std::string& text = word("a duration");
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error == std::errc() && value >= 0) {
    if (unit == "us") return std::chrono::microseconds(value);
    if (unit == "ms") return std::chrono::milliseconds(value);
    if (unit == "s") return std::chrono::seconds(value);
  }
  fail(fmt::format("\"{}\" is no duration, such as 20us, 5ms or 2s", text));
}

Command Arguments::rest() {
  if (at_end()) fail("a command is missing");
  Command command{command_.line, {command_.words.begin() + static_cast<std::ptrdiff_t>(next_), command_.words.end()}};
  next_ = command_.words.size();
  return command;
}

void Arguments::end() const {
  if (!at_end()) fail(fmt::format("\"{}\" is too much", command_.words[next_]));
}

}  // namespace spindled::sim
