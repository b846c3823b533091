#include "daemon/net/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace spindled {

namespace {

constexpr auto kComplaintInterval = std::chrono::minutes(1);

Result<FileDescriptor> open_for_lines(const std::string& path) {
  struct stat found {};
  const bool is_fifo = ::stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
  // Opening a FIFO for writing alone waits for a reader, and fails later when the reader goes.
  const int mode = is_fifo ? O_RDWR : O_WRONLY | O_APPEND | O_CREAT;
  FileDescriptor file(::open(path.c_str(), mode | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file.is_open()) return fail(Errc::bad_configuration, fmt::format("{}: {}", path, describe_errno(errno)));
  return file;
}

}  // namespace

Result<LogFile> LogFile::open(const std::string& path) {
  LogFile log(path);
  if (!path.empty()) {
    Result<FileDescriptor> file = open_for_lines(path);
    if (!file) return tl::unexpected(file.error());
    log.file_ = std::move(*file);
  }
  return log;
}

Result<void> LogFile::reopen() {
  if (path_.empty()) return {};
  Result<FileDescriptor> file = open_for_lines(path_);
  if (!file) return tl::unexpected(file.error());
  file_ = std::move(*file);
  is_within_a_line_ = false;
  return {};
}

int LogFile::number() const { return file_.is_open() ? file_.get() : STDERR_FILENO; }

bool LogFile::write(std::string_view line) {
  std::string completed;
  if (is_within_a_line_) line = completed.append("\n").append(line);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(number(), line.data() + written, line.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {  // somebody else who holds the pipe has made it non-blocking
      pollfd room{number(), POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      complain(errno);
      if (written != 0) is_within_a_line_ = true;
      return false;
    }
  }
  is_within_a_line_ = false;
  return true;
}

void LogFile::complain(int error) {
  const auto now = std::chrono::steady_clock::now();
  if (!file_.is_open() || (has_complained_ && now - complained_at_ < kComplaintInterval)) return;
  has_complained_ = true;
  complained_at_ = now;
  write_at_once(STDERR_FILENO, fmt::format("spindled: cannot write the log: {}: {}\n", path_, describe_errno(error)));
}

bool write_at_once(int descriptor, std::string_view text) {
  while (!text.empty()) {
    // A pipe that polls as writable takes PIPE_BUF bytes.
    pollfd room{descriptor, POLLOUT, 0};
    if (::poll(&room, 1, 0) <= 0 || (room.revents & POLLOUT) == 0) return false;
    const ssize_t count = ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace spindled
