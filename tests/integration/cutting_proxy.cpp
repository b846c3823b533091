#include "tests/integration/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace spindle::test {

namespace {

constexpr int kLookMs = 20;

/// Closed, the other end sees a reset and not an end.
void reset(int socket) {
  const linger hard{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

}  // namespace

CuttingProxy::CuttingProxy(const std::string& address) : upstream_(address) {
  listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&here), sizeof here) != 0 ||
      ::listen(listener_.get(), 8) != 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&here), &size) != 0) {
    throw std::runtime_error("the proxy has no port");
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  thread_ = std::thread([this] { run(); });
}

CuttingProxy::~CuttingProxy() {
  stops_ = true;
  thread_.join();
}

void CuttingProxy::run() {
  while (!stops_) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kLookMs) <= 0) continue;
    const Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client) serve(client.get());
  }
}

void CuttingProxy::serve(int client) {
  Address address;
  std::error_code error;
  std::string text;
  if (!parse_address(upstream_, address)) return;
  const Descriptor daemon =
      connect_socket(address, std::chrono::steady_clock::now() + std::chrono::seconds(5), error, text);
  if (!daemon) return reset(client);
  std::vector<char> buffer(64u << 10);
  while (!stops_) {
    pollfd waiting[2] = {{client, POLLIN, 0}, {daemon.get(), POLLIN, 0}};
    const int ready = ::poll(waiting, 2, kLookMs);
    if (ready < 0) break;
    if (waiting[0].revents != 0 && !pass_on(client, daemon.get(), buffer)) break;
    if (waiting[1].revents != 0 && !pass_on(daemon.get(), client, buffer)) break;
    if (passed_ < cut_at_) continue;
    cut_at_ = UINT64_MAX;
    ++cuts_;
    reset(client);
    reset(daemon.get());
    return;
  }
}

bool CuttingProxy::pass_on(int from, int to, std::vector<char>& buffer) {
  const ssize_t got = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  // Up to the byte at which it is to be cut.
  const std::uint64_t passed = passed_, cut_at = cut_at_;
  std::uint64_t left = std::min<std::uint64_t>(static_cast<std::uint64_t>(got), cut_at > passed ? cut_at - passed : 0);
  for (const char* at = buffer.data(); left > 0;) {
    pollfd waiting{to, POLLOUT, 0};
    if (::poll(&waiting, 1, kLookMs) < 0 || stops_) return false;
    const ssize_t sent = ::send(to, at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent <= 0) continue;
    at += sent;
    left -= static_cast<std::uint64_t>(sent);
    passed_ += static_cast<std::uint64_t>(sent);
  }
  return true;
}

}  // namespace spindle::test
