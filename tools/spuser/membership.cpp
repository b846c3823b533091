#include "tools/spuser/membership.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tools/spuser/exit.h"

namespace spuser {

void make_ready_file(const std::string& path) {
  if (path.empty()) return;
  std::ofstream file(path);
  if (!file) throw Exit{kExitInputOutput, "cannot make " + path + ": " + std::strerror(errno)};
}

}  // namespace spuser
