#include "daemon/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace spindled {

namespace {
CheckHook hook = nullptr;
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  if (CheckHook once = hook) {
    hook = nullptr;
    once();
  }
  std::abort();
}

void set_check_hook(CheckHook new_hook) { hook = new_hook; }

}  // namespace spindled
