#include "tools/spuser/token_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "libclient/common/token.h"
#include "tools/spuser/exit.h"

namespace spuser {

std::string read_token_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(spindle::kTokenBytes + 2, '\0');  // with the end of the line
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    throw Exit{kExitInputOutput, fmt::format("the token in {} cannot be read: {}", path, std::strerror(errno))};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (spindle::is_token(text)) return text;
  throw Exit{
      kExitInputOutput,
      fmt::format("{} does not begin with a token: its first line is to be what `spmonitor token new` prints first",
                  path)};
}

}  // namespace spuser
