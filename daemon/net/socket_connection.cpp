#include "daemon/net/socket_connection.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace spindled {

namespace {

/// Buffers in one system call. IOV_MAX is 1024; past some hundred the call costs far more than its entry.
constexpr std::size_t kBuffersPerCall = 256;

constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();

std::size_t total_bytes(std::span<const ByteView> buffers) {
  std::size_t total = 0;
  for (const ByteView& buffer : buffers) total += buffer.size();
  return total;
}

IoResult result_of(ssize_t outcome) {
  if (outcome >= 0) return {static_cast<std::size_t>(outcome), 0};
  return {0, errno};
}

}  // namespace

bool IoResult::would_block() const { return error == EAGAIN || error == EINTR; }

std::string IoResult::reason() const {
  return error == kEndOfStream ? "the peer closed the connection" : describe_errno(error);
}

SocketConnection::SocketConnection(asio::io_context& io, ConnectionId connection, FileDescriptor socket, Port at)
    : id(connection), port(at), descriptor_(io, socket.release()) {
  if (port == Port::link) set_unsent_mark(descriptor_.native_handle(), mark_.bytes());
}

IoResult SocketConnection::read(std::span<std::uint8_t> space) {
  IoResult result = result_of(::recv(descriptor_.native_handle(), space.data(), space.size(), MSG_DONTWAIT));
  if (result.error == 0 && result.bytes == 0) result.error = IoResult::kEndOfStream;
  return result;
}

IoResult SocketConnection::write(Time now, std::span<const ByteView> buffers) {
  return port == Port::link ? write_on_link(now, buffers) : write_up_to(buffers, kNoBound);
}

/// The kernel itself looks at its mark only when it begins another piece of memory, of up to 64 KiB.
IoResult SocketConnection::write_on_link(Time now, std::span<const ByteView> buffers) {
  const bool is_bounded = mark_.bytes() < UnsentMark::kMax;
  const std::size_t offered = total_bytes(buffers);
  std::size_t room = kNoBound;
  if (is_bounded) {
    if (unsent_at_most_ + offered > mark_.bytes()) unsent_at_most_ = unsent_bytes(descriptor_.native_handle());
    room = mark_.bytes() - std::min(mark_.bytes(), unsent_at_most_);
  }
  const IoResult result = write_up_to(buffers, room);
  unsent_at_most_ += result.bytes;
  if (result.bytes < offered && !result.is_failure()) {
    if (!is_bounded) unsent_at_most_ = unsent_bytes(descriptor_.native_handle());
    mark_.filled(now, unsent_at_most_);
  }
  return result;
}

Duration SocketConnection::shortest_round_trip() { return spindled::shortest_round_trip(descriptor_.native_handle()); }

void SocketConnection::drained(Time now) {
  if (port != Port::link) return;
  unsent_at_most_ = unsent_bytes(descriptor_.native_handle());
  if (mark_.drained(now, unsent_at_most_)) set_unsent_mark(descriptor_.native_handle(), mark_.bytes());
}

IoResult SocketConnection::write_up_to(std::span<const ByteView> buffers, std::size_t bytes_max) {
  std::array<iovec, kBuffersPerCall> vectors;
  IoResult total;
  while (!buffers.empty() && total.bytes < bytes_max) {
    const std::size_t count = std::min(buffers.size(), vectors.size());
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t size = std::min(buffers[i].size(), bytes_max - total.bytes - wanted);
      vectors[i] = {const_cast<std::uint8_t*>(buffers[i].data()), size};
      wanted += size;
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    const IoResult one = result_of(::sendmsg(descriptor_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL));
    total.bytes += one.bytes;
    total.error = one.error;
    if (one.bytes < wanted) break;
    buffers = buffers.subspan(count);
  }
  return total;
}

void SocketConnection::finish_writing() { ::shutdown(descriptor_.native_handle(), SHUT_WR); }

void SocketConnection::close() {
  std::error_code ignored;
  descriptor_.close(ignored);
}

}  // namespace spindled
