#include "tests/adversary/slow_line.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "tests/integration/process.h"

namespace spindle::test {

namespace {

constexpr int kStepMs = 5;
/// Small, so that what waits does so in the daemon's own queue.
constexpr int kSocketBytes = 32 << 10;

/// Moves up to `bytes` of what can be read; how many, or -1 at the end of either side.
ssize_t move_bytes(int from, int to, std::size_t bytes) {
  std::array<char, 16 << 10> buffer;
  const ssize_t count = ::recv(from, buffer.data(), std::min(bytes, buffer.size()), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count <= 0) return -1;
  for (ssize_t sent = 0; sent < count;) {
    const ssize_t part = ::send(to, buffer.data() + sent, static_cast<std::size_t>(count - sent), MSG_NOSIGNAL);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return -1;
    sent += part;
  }
  return count;
}

}  // namespace

SlowLine::SlowLine(std::string to, std::size_t rate) : to_(std::move(to)), rate_(rate) {
  listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &kSocketBytes, sizeof kSocketBytes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_.get(), 4) != 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a slow line");
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

SlowLine::~SlowLine() = default;

void SlowLine::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kStepMs) <= 0) continue;
    const Descriptor from(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    Address address;
    std::error_code error;
    std::string why;
    if (!from || !parse_address(to_, address)) continue;
    const Descriptor to = connect_socket(address, Clock::now() + kPatience, error, why);
    if (to) pass_on(stop, from, to);
  }
}

void SlowLine::pass_on(const std::stop_token& stop, const Descriptor& from, const Descriptor& to) {
  const auto per_step = static_cast<double>(rate_) * kStepMs / 1000;
  double allowed = 0;
  Clock::time_point last = Clock::now();
  while (!stop.stop_requested()) {
    pollfd back{to.get(), POLLIN, 0};
    ::poll(&back, 1, kStepMs);
    while (const ssize_t count = move_bytes(to.get(), from.get(), 16 << 10)) {
      if (count < 0) return;
    }
    const Clock::time_point now = Clock::now();
    allowed += static_cast<double>(rate_) * std::chrono::duration<double>(now - last).count();
    allowed = std::min(allowed, 4 * per_step);
    last = now;
    while (allowed >= 1) {
      const ssize_t count = move_bytes(from.get(), to.get(), static_cast<std::size_t>(allowed));
      if (count < 0) return;
      if (count == 0) break;
      allowed -= static_cast<double>(count);
    }
  }
}

}  // namespace spindle::test
