// What a load client does when anything goes wrong: a measurement with an error in it is none.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace spindle::bench {

/// Ends the process at once, in whichever thread.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "cluster_client: {}\n", fmt::format(format, std::forward<Args>(args)...));
  std::fflush(stderr);
  std::_Exit(1);
}

}  // namespace spindle::bench
