// Reading and writing of files at places, whole.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "libclient/common/bytes.h"
#include "libclient/src/socket.h"

namespace spindle {

/// False where the file ends before, or cannot be read.
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
