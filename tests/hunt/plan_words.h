// A line of a plan, word by word.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/time.h"

namespace spindled::hunt {

/// The words of one line, taken one after the other; the first mistake is kept.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) { skip(); }

  bool at_end() const { return rest_.empty(); }
  std::string_view next(std::string_view what) {
    const std::size_t size = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    skip();
    if (word.empty()) fail(fmt::format("{} is missing", what));
    return word;
  }
  std::uint64_t number(std::string_view what, std::uint64_t most = UINT64_MAX) {
    return number_in(next(what), what, most);
  }
  Duration micros(std::string_view what) {
    return std::chrono::microseconds(static_cast<std::int64_t>(number(what, 1'000'000'000'000)));
  }
  /// "d3", "m12": a letter and a number.
  std::uint32_t name(char letter, std::string_view what, std::uint64_t most) {
    const std::string_view word = next(what);
    if (word.empty()) return 0;
    if (word[0] != letter) fail(fmt::format("\"{}\" is no {}", word, what));
    return static_cast<std::uint32_t>(number_in(word.substr(1), what, most));
  }
  template <std::size_t count>
  std::size_t one_of(const std::string_view (&names)[count], std::string_view what) {
    const std::string_view word = next(what);
    for (std::size_t i = 0; i < count; ++i) {
      if (names[i] == word) return i;
    }
    fail(fmt::format("\"{}\" is no {}", word, what));
    return 0;
  }
  /// "a,b": words that commas separate.
  std::vector<std::string> list(std::string_view what) {
    std::vector<std::string> all;
    std::string_view rest = next(what);
    while (!rest.empty()) {
      const std::size_t size = std::min(rest.find(','), rest.size());
      all.emplace_back(rest.substr(0, size));
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
    return all;
  }
  void fail(std::string text) {
    if (!error_) error_ = std::move(text);
  }
  const std::optional<std::string>& error() const { return error_; }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size())); }
  std::uint64_t number_in(std::string_view word, std::string_view what, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || end != word.data() + word.size() || value > most) {
      fail(fmt::format("\"{}\" is no {}", word, what));
      return 0;
    }
    return value;
  }

  std::string_view rest_;
  std::optional<std::string> error_;
};

}  // namespace spindled::hunt
