#include "tools/spmonitor/print.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace spmonitor {

std::optional<std::string> print(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (is_written && std::fflush(stdout) == 0) return std::nullopt;
  if (errno == EPIPE) return "";
  return std::string("cannot write to standard output: ") + std::strerror(errno);
}

}  // namespace spmonitor
