#include "tools/spmonitor/admin_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/admin/admin_frames.h"
#include "libclient/common/defaults.h"
#include "libclient/include/spindle/error.h"
#include "libclient/io/default_socket.h"

namespace spmonitor {

using spindled::AdminFrame;

namespace {

/// A daemon that answers with more than this is none.
constexpr std::size_t kReplyBytesMax = 16u << 20;

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

}  // namespace

Result<AdminClient> AdminClient::connect(const std::string& socket_path, std::chrono::milliseconds timeout) {
  const auto [path, is_anybodys] = socket_path.empty() ? spindle::find_default_socket(spindle::kAdminSocketName)
                                                       : spindle::DefaultSocket{socket_path};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(
        fmt::format("\"{}\" cannot be the path of a socket: it has 1 to {} bytes", path, sizeof address.sun_path - 1));
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  AdminClient client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), path, timeout);
  if (client.socket_ < 0) return fail(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  if (::connect(client.socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const bool is_missing = errno == ENOENT && socket_path.empty();
    return cannot_connect(is_missing ? spindle::default_socket_places(spindle::kAdminSocketName) : path, errno);
  }
  if (const std::string why = is_anybodys ? spindle::why_not_trusted(client.socket_) : ""; !why.empty()) {
    return fail(path + ": " + why);
  }
  return client;
}

AdminClient::AdminClient(AdminClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), path_(std::move(other.path_)), timeout_(other.timeout_) {}

AdminClient::~AdminClient() {
  if (socket_ >= 0) ::close(socket_);
}

Result<spindle::admin::Reply> AdminClient::ask(const spindle::admin::Request& request) {
  const Clock::time_point deadline = Clock::now() + timeout_;
  const std::string body = request.SerializeAsString();
  std::string frame(spindle::kFrameHeadBytes, '\0');
  spindle::Writer writer(reinterpret_cast<std::uint8_t*>(frame.data()));
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(AdminFrame::request), body.size());
  // Where the daemon refuses the connection, sending fails and its reason can still be read.
  const Result<void> sent = send(frame + body, deadline);

  const Result<std::string> head_bytes = read(spindle::kFrameHeadBytes, deadline);
  if (!head_bytes) return fail(sent ? head_bytes.error() : sent.error());
  const spindle::FrameHead head = *spindle::read_frame_head(spindle::as_bytes(*head_bytes));
  if (head.length > kReplyBytesMax) return fail(fmt::format("what answers at {} is no spindled", path_));
  Result<std::string> answer = read(head.length, deadline);
  if (!answer) return fail(answer.error());

  if (head.type == static_cast<std::uint8_t>(AdminFrame::error) && answer->size() >= 2) {
    spindle::Reader reader(spindle::as_bytes(*answer));
    const auto code = static_cast<spindle::Errc>(reader.u16());
    return fail(fmt::format("the daemon says: {} ({})", spindle::as_text(reader.rest()), spindle::to_string(code)));
  }
  spindle::admin::Reply reply;
  if (head.type != static_cast<std::uint8_t>(AdminFrame::reply) || !reply.ParseFromString(*answer) ||
      static_cast<int>(reply.kind_case()) != static_cast<int>(request.kind_case())) {
    return fail(fmt::format("what answers at {} is no spindled, or of another version than this spmonitor", path_));
  }
  return reply;
}

Result<void> AdminClient::wait(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{socket_, events, 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready == 0) {
      return fail(fmt::format("the daemon at {} has not answered for {} ms: it hangs, or is overloaded", path_,
                              timeout_.count()));
    }
    if (errno != EINTR) return fail(fmt::format("cannot wait for {}: {}", path_, std::strerror(errno)));
  }
}

Result<void> AdminClient::send(const std::string& bytes, Clock::time_point deadline) const {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (const Result<void> ready = wait(POLLOUT, deadline); !ready) return ready;
    } else if (errno != EINTR) {
      return fail(fmt::format("the connection to {} was lost: {}", path_, std::strerror(errno)));
    }
  }
  return {};
}

Result<std::string> AdminClient::read(std::size_t bytes, Clock::time_point deadline) const {
  std::string result(bytes, '\0');
  for (std::size_t got = 0; got < bytes;) {
    const ssize_t count = ::recv(socket_, result.data() + got, bytes - got, 0);
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (count == 0) {
      return fail(fmt::format("the daemon at {} closed the connection: it is stopping, or is no spindled", path_));
    } else if (errno == EAGAIN) {
      if (const Result<void> ready = wait(POLLIN, deadline); !ready) return fail(ready.error());
    } else if (errno != EINTR) {
      return fail(fmt::format("the connection to {} was lost: {}", path_, std::strerror(errno)));
    }
  }
  return result;
}

}  // namespace spmonitor
