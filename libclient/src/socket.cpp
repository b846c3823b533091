#include "libclient/src/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "libclient/io/default_socket.h"
#include "libclient/src/deadline.h"
#include "libclient/src/resolver.h"

namespace spindle {

namespace {

bool parse_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= UINT16_MAX;
}

bool parse_tcp(std::string_view text, Address& address, std::uint16_t default_port) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    has_port = !rest.empty();
    if (has_port && rest.front() != ':') return false;
    if (has_port) port = rest.substr(1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  if (host.empty() || (has_port && !parse_port(port))) return false;
  address.host = host;
  address.port = has_port ? std::string(port) : std::to_string(default_port);
  return true;
}

// Connects within the socket's send timeout. A signal ends the call without a connection, so it is made anew.
bool connect_blocking(const Descriptor& socket, const sockaddr* to, socklen_t to_bytes, Deadline deadline) {
  do {
    const int wait_ms = std::max(1, poll_timeout(deadline));
    const timeval wait{wait_ms / 1000, (wait_ms % 1000) * 1000};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (::connect(socket.get(), to, to_bytes) == 0) return true;
  } while (errno == EINTR && poll_timeout(deadline) > 0);
  if (errno == EINTR) errno = ETIMEDOUT;
  return false;
}

// Waits until the socket, which is connecting, is connected.
bool finish_connecting(const Descriptor& socket, Deadline deadline) {
  pollfd waiting{socket.get(), POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, poll_timeout(deadline));
  } while (ready < 0 && errno == EINTR);
  int failure = ready == 0 ? ETIMEDOUT : errno;
  socklen_t failure_bytes = sizeof failure;
  if (ready > 0 && ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &failure_bytes) != 0) failure = errno;
  errno = failure;
  return ready > 0 && failure == 0;
}

// Connects one address of a host. A unix socket whose queue of connections is full is only waited for by a call that
// blocks. A call that blocks for TCP would not say, once a signal has ended it, how the connection fares.
Descriptor connect_one(const sockaddr* to, socklen_t to_bytes, Deadline deadline, std::error_code& error,
                       std::string& text) {
  const bool is_unix = to->sa_family == AF_UNIX;
  Descriptor socket(::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | (is_unix ? 0 : SOCK_NONBLOCK), 0));
  if (!socket) {
    error = Errc::connect_failed;
    text = std::strerror(errno);
    return {};
  }
  const bool connected = is_unix ? connect_blocking(socket, to, to_bytes, deadline)
                                 : ::connect(socket.get(), to, to_bytes) == 0 ||
                                       (errno == EINPROGRESS && finish_connecting(socket, deadline));
  if (!connected) {
    const bool late = errno == EAGAIN || errno == ETIMEDOUT;
    error = late ? Errc::timed_out : Errc::connect_failed;
    text = late ? "the daemon did not accept the connection in time" : std::strerror(errno);
    return {};
  }
  if (is_unix) {
    ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  } else {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  error.clear();
  return socket;
}

Descriptor connect_unix(const Address& address, Deadline deadline, std::error_code& error, std::string& text) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address.path.data(), address.path.size());
  Descriptor socket = connect_one(reinterpret_cast<const sockaddr*>(&to), sizeof to, deadline, error, text);
  if (std::string why = socket && address.is_anybodys ? why_not_trusted(socket.get()) : ""; !why.empty()) {
    error = Errc::connect_failed;
    text = std::move(why);
    socket = {};
  }
  if (!socket) {
    const bool is_missing = address.is_default && ::access(address.path.c_str(), F_OK) != 0;
    text = is_missing ? "no daemon is at " + default_socket_places(kClientSocketName) +
                            ": is spindled running? Otherwise name its address (ConnectOptions::address, "
                            "SPINDLE_ADDRESS, spuser --connect)"
                      : address.path + ": " + text;
  }
  return socket;
}

Descriptor connect_tcp(const Address& address, Deadline deadline, std::error_code& error, std::string& text) {
  const Addresses found = resolve(address.host, address.port, deadline, error, text);
  Descriptor socket = connect_first(found.get(), deadline, error, text);
  if (!socket) text = address.host + ":" + address.port + ": " + text;
  return socket;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor make_event_descriptor() { return Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void raise_event(const Descriptor& event) {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then it is readable all the same.
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
}

void clear_event(const Descriptor& event) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(event.get(), &count, sizeof count);
}

bool parse_address(std::string_view text, Address& address, std::uint16_t default_port) {
  address = Address();
  if (text.empty()) {
    const char* variable = std::getenv(spindle::kAddressVariable);
    text = variable != nullptr ? variable : "";
  }
  if (text.empty()) {
    DefaultSocket found = find_default_socket(spindle::kClientSocketName);
    address.path = std::move(found.path);
    address.is_default = true;
    address.is_anybodys = found.is_anybodys;
    return true;
  }
  if (text.starts_with("unix:") || text.starts_with('/')) {
    const std::string_view path = text.starts_with('/') ? text : text.substr(5);
    if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) return false;
    address.path = path;
    return true;
  }
  address.is_protected = text.starts_with("tls:");
  return parse_tcp(address.is_protected || text.starts_with("tcp:") ? text.substr(4) : text, address, default_port);
}

int poll_timeout(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT32_MAX));
}

Descriptor connect_first(const addrinfo* found, Deadline deadline, std::error_code& error, std::string& text) {
  std::size_t left = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) ++left;
  Descriptor socket;
  for (const addrinfo* one = found; one != nullptr && !socket; one = one->ai_next) {
    socket = connect_one(one->ai_addr, one->ai_addrlen, share_of(deadline, left--), error, text);
  }
  return socket;
}

Descriptor connect_socket(const Address& address, Deadline deadline, std::error_code& error, std::string& text) {
  return address.path.empty() ? connect_tcp(address, deadline, error, text)
                              : connect_unix(address, deadline, error, text);
}

}  // namespace spindle
