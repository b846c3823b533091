// A scenario as text: commands, and what they are expected to produce.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spindled::sim {

/// What is wrong with a script: "file:line: text".
class ScriptError : public std::runtime_error {
 public:
  ScriptError(std::string_view file, std::size_t line, std::string_view text);
};

/// One line, taken apart at its blanks; a "quoted text" is one word, without its quotes.
struct Command {
  std::size_t line = 0;
  std::vector<std::string> words;
};

/// Commands that run one after the other, and what happened in the end:
///
///   # comment
///   command
///   command
///   ----
///   expected output, up to the next blank line
struct Block {
  std::string source;  // the lines above "----", comments too
  std::vector<Command> commands;
  std::string expected;
};

struct Script {
  std::string file;  // as errors name it
  std::vector<Block> blocks;
  std::string rest;  // comments behind the last block
};

/// Throws ScriptError for a line that cannot be taken apart, and for commands or output without the other.
Script parse_script(std::string file, std::string_view text);

/// The text of `script` with `outputs`, one for each block, in place of what it expects.
std::string rewritten(const Script& script, const std::vector<std::string>& outputs);

}  // namespace spindled::sim
