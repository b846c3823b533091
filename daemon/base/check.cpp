#include "daemon/base/check.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace spindled {

namespace {
CheckHook hook = nullptr;
}

void check_failed(const char* condition, const char* file, int line) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "%s:%d: check failed: %s", file, line, condition);
  if (hook != nullptr) {
    hook(text.data());
  } else {
    std::fprintf(stderr, "%s\n", text.data());
  }
  std::abort();
}

void set_check_hook(CheckHook new_hook) { hook = new_hook; }

}  // namespace spindled
