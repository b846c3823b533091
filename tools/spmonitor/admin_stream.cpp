#include "tools/spmonitor/admin_stream.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libclient/common/defaults.h"
#include "libclient/io/default_socket.h"
#include "libclient/io/plain_stream.h"
#include "libclient/tls/certificate_file.h"
#include "libclient/tls/tls_stream.h"

namespace spmonitor {

namespace {

tl::unexpected<Failure> cannot_connect(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
      return fail(
          fmt::format("no daemon has its administration socket at {}: is spindled running? Name another with "
                      "--socket; it is listen.admin_socket in the daemon's configuration",
                      path));
    case ECONNREFUSED:
      return fail(
          fmt::format("nobody answers at {}: the daemon that made the socket is gone; start spindled again", path));
    case EACCES:
    case EPERM:
      return fail(fmt::format(
          "permission denied at {}: administration is for the user that spindled runs as, root, and those of its group "
          "that admin.viewers and admin.operators name",
          path));
    case EAGAIN:
      return fail(fmt::format("the daemon at {} takes no connection: it hangs, or is overloaded", path));
    default:
      return fail(fmt::format("cannot connect to {}: {}", path, std::strerror(error)));
  }
}

Result<AdminStream> open_socket(const std::string& socket_path) {
  const auto [path, is_anybodys] = socket_path.empty() ? spindle::find_default_socket(spindle::kAdminSocketName)
                                                       : spindle::DefaultSocket{socket_path};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(
        fmt::format("\"{}\" cannot be the path of a socket: it has 1 to {} bytes", path, sizeof address.sun_path - 1));
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  spindle::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const bool is_missing = errno == ENOENT && socket_path.empty();
    return cannot_connect(is_missing ? spindle::default_socket_places(spindle::kAdminSocketName) : path, errno);
  }
  if (const std::string why = is_anybodys ? spindle::why_not_trusted(socket.get()) : ""; !why.empty()) {
    return fail(path + ": " + why);
  }
  auto stream = std::make_unique<spindle::PlainStream>(socket.get());
  return AdminStream{path, std::move(socket), std::move(stream)};
}

Result<AdminStream> open_by_tls(const Target& target, spindle::Deadline deadline) {
  std::string wrong;
  const std::optional<std::string> bundle = spindle::read_certificate_file(target.bundle, wrong);
  if (!bundle) return fail(fmt::format("{}: {}", target.bundle, wrong));
  const std::optional<std::string> lists = spindle::read_revocation_lists(target.revocation_lists, wrong);
  if (!lists) return fail(wrong);
  const spindle::WallTime now = spindle::wall_time();
  const spindle::TlsRole role{spindle::TlsPort::admin, spindle::TlsSide::dialling};
  std::shared_ptr<const spindle::TlsContext> context = spindle::TlsContext::make(role, *bundle, *lists, now, wrong);
  if (context == nullptr) {
    return fail(fmt::format("{}: {}", spindle::certificate_paths(target.bundle, target.revocation_lists), wrong));
  }
  spindle::Address address;
  spindle::parse_address(target.address, address, spindle::kDefaultAdminPort);
  std::error_code error;
  spindle::Descriptor socket = spindle::connect_socket(address, deadline, error, wrong);
  if (!socket) return fail(fmt::format("cannot connect to {}: {}", target.address, wrong));
  auto stream = std::make_unique<spindle::TlsStream>(socket.get(), std::move(context), now);
  return AdminStream{target.address, std::move(socket), std::move(stream)};
}

}  // namespace

std::string wrong_admin_address(const std::string& address) {
  spindle::Address parsed;
  if (address.starts_with("tls:") && spindle::parse_address(address, parsed)) return {};
  return "must be tls:HOST or tls:HOST:PORT: administration goes over TCP with TLS only; for a daemon of this host "
         "there "
         "is --socket";
}

Result<AdminStream> open_admin_stream(const Target& target, spindle::Deadline deadline) {
  return target.address.empty() ? open_socket(target.socket_path) : open_by_tls(target, deadline);
}

}  // namespace spmonitor
