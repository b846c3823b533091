#include "daemon/net/unix_socket_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace spindled {

namespace {

constexpr int kBacklog = 4096;

/// Makes the path free, or says why it is not.
Result<void> clear_path(const std::string& path, const SocketAddress& address) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return fail(Errc::bad_address, describe_errno(errno));
  }
  if (!S_ISSOCK(found.st_mode)) return fail(Errc::bad_address, "the file exists and is not a socket");

  const FileDescriptor probe = open_socket(AF_UNIX);
  if (!probe.is_open()) return fail(Errc::bad_address, describe_errno(errno));
  // EAGAIN: somebody listens but is too busy to accept.
  if (::connect(probe.get(), address.get(), address.size) == 0 || errno == EAGAIN) {
    return fail(Errc::bad_address, "another daemon answers there");
  }
  if (errno != ECONNREFUSED && errno != ENOENT) return fail(Errc::bad_address, describe_errno(errno));
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(Errc::bad_address,
                fmt::format("the socket of an earlier daemon cannot be removed: {}", describe_errno(errno)));
  }
  return {};
}

}  // namespace

Result<UnixSocketFile> UnixSocketFile::claim(const std::string& path, Access access) {
  const SocketAddress address = make_unix_address(path);
  if (Result<void> cleared = clear_path(path, address); !cleared) return tl::unexpected(cleared.error());
  FileDescriptor socket = open_socket(AF_UNIX);
  if (!socket.is_open()) return fail(Errc::bad_address, describe_errno(errno));
  // The file gets the mode that the socket has when it is bound, less the umask: nobody can connect in between.
  struct stat made {};
  const mode_t mode = access == Access::group ? 0660 : 0666;
  if (::fchmod(socket.get(), mode) != 0 || ::bind(socket.get(), address.get(), address.size) != 0 ||
      ::chmod(path.c_str(), mode) != 0 || ::stat(path.c_str(), &made) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return fail(Errc::bad_address, describe_errno(errno));
  }
  return UnixSocketFile(path, std::move(socket), made);
}

UnixSocketFile::UnixSocketFile(std::string path, FileDescriptor socket, const struct stat& made)
    : path_(std::move(path)), socket_(std::move(socket)), device_(made.st_dev), inode_(made.st_ino) {}

UnixSocketFile::~UnixSocketFile() {
  struct stat found {};
  if (path_.empty() || ::lstat(path_.c_str(), &found) != 0) return;  // an empty path was moved from
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

}  // namespace spindled
