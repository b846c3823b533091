#include "daemon/net/file_watch.h"

#include <sys/stat.h>

#include <cerrno>

namespace spindled {

namespace {

std::int64_t to_nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_nsec};
}

}  // namespace

FileWatch::FileWatch(std::vector<std::string> paths) : paths_(std::move(paths)) {
  for (const std::string& path : paths_) states_.push_back(look_at(path));
}

FileWatch::State FileWatch::look_at(const std::string& path) {
  struct stat found {};
  State state;
  if (::stat(path.c_str(), &found) != 0) {
    state.error = errno;
    return state;
  }
  state.device = found.st_dev;
  state.inode = found.st_ino;
  state.bytes = found.st_size;
  state.written = to_nanoseconds(found.st_mtim);
  state.inode_changed = to_nanoseconds(found.st_ctim);
  return state;
}

}  // namespace spindled
