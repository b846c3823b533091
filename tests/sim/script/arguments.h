// The words of one command, taken one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/time.h"
#include "tests/sim/script/script.h"

namespace spindled::sim {

/// Every error names the file, the line and how the command is used.
class Arguments {
 public:
  /// Those of `command`, whose first word is its name. All of them outlive this.
  Arguments(std::string_view file, const Command& command, std::string_view usage)
      : file_(file), command_(command), usage_(usage) {}

  [[noreturn]] void fail(std::string_view text) const;

  bool at_end() const { return next_ == command_.words.size(); }
  std::size_t left() const { return command_.words.size() - next_; }
  /// The next word; `what` it should be, for the error where there is none.
  const std::string& word(std::string_view what);
  /// Takes the next word if it is this one.
  bool take(std::string_view word);
  /// The next word must be this one.
  void expect(std::string_view word);
  std::uint64_t number(std::string_view what);
  /// "5ms", "20us", "2s".
  Duration duration();
  /// The words that are left, as a command of the same line.
  Command rest();
  /// Nothing may be left.
  void end() const;

 private:
  std::string_view file_;
  const Command& command_;
  std::string_view usage_;
  std::size_t next_ = 1;
};

}  // namespace spindled::sim
