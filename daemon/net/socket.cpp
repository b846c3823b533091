#include "daemon/net/socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "daemon/base/check.h"

namespace spindled {

namespace {

/// The kernel cuts it to its own limit, net.core.somaxconn.
constexpr int kBacklog = 4096;

// A TCP client whose host is gone without a word is noticed after about a minute.
constexpr int kKeepAliveIdleS = 30;
constexpr int kKeepAliveIntervalS = 10;
constexpr int kKeepAliveProbes = 3;

void set_option(int socket, int level, int name, int value) {
  static_cast<void>(setsockopt(socket, level, name, &value, sizeof value));
}

bool is_tcp(int socket) {
  const int family = local_address(socket).family();
  return family == AF_INET || family == AF_INET6;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (is_open()) ::close(number_);
}

SocketAddress make_tcp_address(const Address& address) {
  SocketAddress result;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
  if (inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    result.size = sizeof *v4;
  } else {
    SPINDLE_CHECK(inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    result.size = sizeof *v6;
  }
  return result;
}

SocketAddress make_unix_address(const std::string& path) {
  SocketAddress result;
  auto* address = reinterpret_cast<sockaddr_un*>(&result.storage);
  SPINDLE_CHECK(path.size() < sizeof address->sun_path);
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path, path.c_str(), path.size() + 1);
  result.size = sizeof *address;
  return result;
}

std::string to_string(const SocketAddress& address) {
  char host[INET6_ADDRSTRLEN] = {};
  if (address.family() == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
    return to_string(Address{host, ntohs(v4->sin_port)});
  }
  if (address.family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
    return to_string(Address{host, ntohs(v6->sin6_port)});
  }
  return {};
}

FileDescriptor open_socket(int family) {
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Result<FileDescriptor> listen_tcp(const Address& address) {
  const SocketAddress where = make_tcp_address(address);
  FileDescriptor socket = open_socket(where.family());
  if (!socket.is_open()) return fail(Errc::bad_address, describe_errno(errno));
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  // "[::]" means IPv6 and nothing else, so that "0.0.0.0" can be listed beside it.
  if (where.family() == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket.get(), where.get(), where.size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return fail(Errc::bad_address, describe_errno(errno));
  }
  return socket;
}

SocketAddress local_address(int socket) {
  SocketAddress address;
  address.size = sizeof address.storage;
  if (::getsockname(socket, address.get(), &address.size) != 0) return {};
  return address;
}

void tune_connection(int socket, Port port) {
  if (!is_tcp(socket)) return;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  if (port == Port::link) {
    // Heartbeats are a few packets at a time: what is lost of these again is sent again after the same time, and not
    // after twice as long each time.
    set_option(socket, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1);
    return;  // links have hellos of their own
  }
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleS);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalS);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
}

void set_unsent_mark(int socket, std::size_t bytes) {
  set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(bytes));
}

std::size_t unsent_bytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQNSD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::size_t unacknowledged_bytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

Duration shortest_round_trip(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return Duration::zero();
  if (size < offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt) return Duration::zero();  // an old kernel
  constexpr std::uint32_t kUnknown = ~0U;
  return info.tcpi_min_rtt == kUnknown ? Duration::zero() : std::chrono::microseconds(info.tcpi_min_rtt);
}

Duration round_trip(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return Duration::zero();
  if (size < offsetof(tcp_info, tcpi_rtt) + sizeof info.tcpi_rtt) return Duration::zero();
  return std::chrono::microseconds(info.tcpi_rtt);
}

bool is_unix_socket(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

std::string unix_peer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "unix socket";
  return fmt::format("pid {}, uid {}", peer.pid, peer.uid);
}

bool is_out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

std::string describe_errno(int number) { return std::error_code(number, std::generic_category()).message(); }

}  // namespace spindled
