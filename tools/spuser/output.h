// Standard output, fit for pipes.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

namespace spuser {

/// Gathers what is printed and writes it in large pieces; `flush` before waiting for anything. What nobody reads any
/// more is dropped.
class Output {
 public:
  void add(std::string_view text);
  void flush();
  /// That nobody reads any more ends the program, without a complaint: `flush` throws Exit, of kExitDone.
  void end_without_readers() { readers_end_ = true; }
  /// What others have sent is to do nothing to it then.
  bool is_terminal() const { return is_terminal_; }

 private:
  std::string buffer_;
  bool readers_end_ = false;
  const bool is_terminal_ = ::isatty(STDOUT_FILENO) != 0;
};

}  // namespace spuser
