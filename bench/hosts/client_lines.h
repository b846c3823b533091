// What a load client tells the script that started it.
#pragma once

#include <errno.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace spindle::bench {

/// A measurement with an error in it is none: ends the process at once, in whichever thread.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, fmt::format(format, std::forward<Args>(args)...));
  std::fflush(stderr);
  std::_Exit(1);
}

/// One line on standard output, at once.
inline void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace spindle::bench
