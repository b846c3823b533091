#include "tests/sim/script/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace spindled::sim {

namespace {

constexpr std::string_view kSeparator = "----";

class Parser {
 public:
  Parser(std::string file, std::string_view text) : text_(text) { script_.file = std::move(file); }

  Script parse() {
    Block block;
    while (const std::optional<std::string_view> line = next_line()) {
      if (*line == kSeparator) {
        if (block.commands.empty()) fail("there is no command above the line");
        block.expected = take_expected();
        script_.blocks.push_back(std::exchange(block, {}));
        continue;
      }
      block.source += fmt::format("{}\n", *line);
      Command command{line_, split(*line)};
      if (!command.words.empty()) block.commands.push_back(std::move(command));
    }
    if (!block.commands.empty()) fail("the last commands have no ---- and no expected output behind them");
    script_.rest = std::move(block.source);
    return std::move(script_);
  }

 private:
  [[noreturn]] void fail(std::string_view text) const { throw ScriptError(script_.file, line_, text); }

  std::optional<std::string_view> next_line() {
    if (text_.empty()) return std::nullopt;
    ++line_;
    const std::size_t end = text_.find('\n');
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    return line;
  }

  std::string take_expected() {
    std::string expected;
    while (const std::optional<std::string_view> line = next_line()) {
      if (line->empty()) break;
      if (*line == kSeparator) fail("a blank line ends the expected output");
      expected += fmt::format("{}\n", *line);
    }
    return expected;
  }

  std::vector<std::string> split(std::string_view line) const {
    std::vector<std::string> words;
    while (true) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.empty() || line.front() == '#') return words;
      const bool quoted = line.front() == '"';
      if (quoted) line.remove_prefix(1);
      const std::size_t end = line.find(quoted ? '"' : ' ');
      if (quoted && end == std::string_view::npos) fail("a quotation has no end");
      words.emplace_back(line.substr(0, end));
      line.remove_prefix(std::min(end, line.size()));
      if (!quoted) continue;
      line.remove_prefix(1);
      if (!line.empty() && line.front() != ' ') fail("a blank must follow a quotation");
    }
  }

  std::string_view text_;
  std::size_t line_ = 0;
  Script script_;
};

}  // namespace

ScriptError::ScriptError(std::string_view file, std::size_t line, std::string_view text)
    : std::runtime_error(fmt::format("{}:{}: {}", file, line, text)) {}

Script parse_script(std::string file, std::string_view text) { return Parser(std::move(file), text).parse(); }

std::string rewritten(const Script& script, const std::vector<std::string>& outputs) {
  std::string text;
  for (std::size_t i = 0; i < script.blocks.size(); ++i) {
    const bool is_last = i + 1 == script.blocks.size() && script.rest.empty();
    text += fmt::format("{}{}\n{}{}", script.blocks[i].source, kSeparator, outputs.at(i), is_last ? "" : "\n");
  }
  return text + script.rest;
}

}  // namespace spindled::sim
