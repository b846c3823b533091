// Reading and writing at places, whole.
#pragma once

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

#include "libclient/common/bytes.h"
#include "libclient/src/socket.h"

namespace spindle {

/// False where it ends before, or cannot be read.
inline bool read_at(const Descriptor& file, std::uint64_t start, std::span<std::uint8_t> to) {
  while (!to.empty()) {
    const ssize_t count = ::pread(file.get(), to.data(), to.size(), static_cast<off_t>(start));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(count));
    start += static_cast<std::uint64_t>(count);
  }
  return true;
}

/// The same of a content in memory.
inline bool read_at(ByteView content, std::uint64_t start, std::span<std::uint8_t> to) {
  if (start > content.size() || to.size() > content.size() - start) return false;
  std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
  return true;
}

/// Reserves that many bytes of the file. 0, or an errno.
inline int allocate(const Descriptor& file, std::uint64_t size) {
  int error = 0;
  do {
    error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size));
  } while (error == EINTR);
  return error;
}

inline bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/// 0, or an errno.
inline int write_at(const Descriptor& file, std::uint64_t start, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(start));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    start += static_cast<std::uint64_t>(count);
  }
  return 0;
}

}  // namespace spindle
