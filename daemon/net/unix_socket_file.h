// The file of a listening unix socket, from the moment that its path is claimed until the daemon stops.
#pragma once

#include <sys/stat.h>

#include <string>

#include "daemon/net/socket.h"

namespace spindled {

class UnixSocketFile {
 public:
  /// Who may connect.
  enum class Access { everybody, group };

  /// Listens at `path`. A socket that a dead process left there is replaced; one that somebody answers on, and any
  /// other file, is an error.
  static Result<UnixSocketFile> claim(const std::string& path, Access access);

  UnixSocketFile(UnixSocketFile&&) = default;
  UnixSocketFile& operator=(UnixSocketFile&&) = delete;
  /// Removes the file, if it is still the one that was made here.
  ~UnixSocketFile();

  /// The listening socket; the caller takes it over.
  FileDescriptor take_socket() { return std::move(socket_); }

 private:
  UnixSocketFile(std::string path, FileDescriptor socket, const struct stat& made);

  std::string path_;
  FileDescriptor socket_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace spindled
