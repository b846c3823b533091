#include "tools/spuser/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/spuser/exit.h"

namespace spuser {

namespace {
constexpr std::size_t kBufferBytes = 64u << 10;
}

void Output::add(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void Output::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, left.data(), left.size());
    if (count >= 0) {
      left.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      // Whoever shares the descriptor has made it non-blocking.
      pollfd waiting{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (errno == EPIPE) {
      if (readers_end_) throw Exit{kExitDone};
      break;
    } else if (errno != EINTR) {
      throw Exit{kExitInputOutput, std::string("cannot write to standard output: ") + std::strerror(errno)};
    }
  }
  buffer_.clear();
}

}  // namespace spuser
