// Where lines of the log end up: a file, a FIFO or standard error. Every call may wait for as long as that does.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/net/socket.h"

namespace spindled {

class LogFile {
 public:
  /// Standard error where `path` is empty. A FIFO is opened whether somebody reads it or not.
  static Result<LogFile> open(const std::string& path);

  /// Opens the file by its name again; keeps the old one where that fails.
  Result<void> reopen();
  /// Writes `line`, which ends with a line feed, all of it. False where it could not; then standard error tells why, at
  /// most once a minute.
  bool write(std::string_view line);

 private:
  explicit LogFile(std::string path) : path_(std::move(path)) {}
  int number() const;
  void complain(int error);

  std::string path_;
  FileDescriptor file_;            // closed: standard error
  bool is_within_a_line_ = false;  // the last write stopped short
  bool has_complained_ = false;
  std::chrono::steady_clock::time_point complained_at_;
};

/// Writes `text` to a descriptor that others may hold, too, as far as it takes it without waiting. Whether it took all.
bool write_at_once(int descriptor, std::string_view text);

}  // namespace spindled
