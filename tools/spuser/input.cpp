#include "tools/spuser/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libclient/common/limits.h"
#include "tools/spuser/exit.h"

namespace spuser {

namespace {
constexpr std::size_t kReadBytes = 64u << 10;
}

Input::Input(std::vector<std::string> files, Wait wait) : files_(std::move(files)), wait_(std::move(wait)) {
  if (files_.empty()) files_.push_back("-");
}

Input::~Input() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::string Input::name() const {
  const std::string& name = files_[next_ - 1];
  return name == "-" ? "standard input" : name;
}

void Input::too_large() const {
  throw Exit{kExitInputOutput, fmt::format("{} has a message of more than {} bytes, which is the most there can be",
                                           name(), spindle::kMessageBytesMax)};
}

bool Input::open_next() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  if (next_ == files_.size()) return false;
  const std::string& file = files_[next_++];
  descriptor_ = file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw Exit{kExitInputOutput, fmt::format("cannot open {}: {}", file, std::strerror(errno))};
  return true;
}

bool Input::fill() {
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kReadBytes);
  ssize_t count = 0;
  do {
    wait_(descriptor_);
    count = ::read(descriptor_, buffer_.data() + held, kReadBytes);
  } while (count < 0 && (errno == EINTR || errno == EAGAIN));
  if (count < 0) throw Exit{kExitInputOutput, fmt::format("cannot read {}: {}", name(), std::strerror(errno))};
  buffer_.resize(held + static_cast<std::size_t>(count));
  return count != 0;
}

bool Input::next_line(std::string_view& line) {
  for (;;) {
    if (descriptor_ < 0 && !open_next()) return false;
    const std::size_t end = buffer_.find('\n', scanned_);
    scanned_ = end == std::string::npos ? buffer_.size() : end + 1;
    const std::size_t size = (end == std::string::npos ? scanned_ : end) - start_;
    if (size > spindle::kMessageBytesMax) too_large();
    if (end == std::string::npos && fill()) continue;
    // The end of the file ends a line, too.
    line = std::string_view(buffer_).substr(start_, size);
    start_ = scanned_;
    if (end != std::string::npos) return true;
    const bool rest = size != 0;
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
    if (rest) {
      line = std::string_view(buffer_).substr(buffer_.size() - size, size);
      return true;
    }
  }
}

bool Input::next_file(std::string_view& content) {
  buffer_.clear();
  start_ = scanned_ = 0;
  if (!open_next()) return false;
  while (fill()) {
    if (buffer_.size() > spindle::kMessageBytesMax) too_large();
  }
  content = buffer_;
  return true;
}

}  // namespace spuser
