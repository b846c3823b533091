// The `openssl` command, as somebody at the other end who is no part of Spindle.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/integration/process.h"

namespace spindle::test {

/// For SPINDLE_TEST_NEEDS.
std::string why_no_openssl();

/// `openssl` with these arguments, to be run as kEnv. `input` is what the command reads; -1: nothing.
ProcessOptions openssl_options(std::vector<std::string> arguments, int input = -1);
inline constexpr const char* kEnv = "/usr/bin/env";
/// Runs it to its end.
Finished openssl(std::vector<std::string> arguments, int input = -1);

/// What is typed at a program, for as long as this lives.
class Keyboard {
 public:
  Keyboard();

  /// For ProcessOptions.
  int input() const { return read_end_.get(); }
  /// Throws where there is no room: nobody reads.
  void type(std::string_view text);

 private:
  Descriptor read_end_;
  Descriptor write_end_;
};

}  // namespace spindle::test
