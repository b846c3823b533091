#include "tools/spuser/exit.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace spuser {

void Exit::say() {
  if (text.empty()) return;
  std::fputs(fmt::format("spuser: {}\n", std::exchange(text, {})).c_str(), stderr);
}

}  // namespace spuser
