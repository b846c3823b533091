#include "daemon/net/connection.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace spindled {

namespace {

/// Buffers in one system call. IOV_MAX is 1024; past some hundred the call costs far more than its entry.
constexpr std::size_t kBuffersPerCall = 256;

IoResult result_of(ssize_t outcome) {
  if (outcome >= 0) return {static_cast<std::size_t>(outcome), 0};
  return {0, errno};
}

}  // namespace

bool IoResult::would_block() const { return error == EAGAIN || error == EINTR; }

std::string IoResult::reason() const {
  return error == kEndOfStream ? "the peer closed the connection" : describe_errno(error);
}

IoResult Connection::read(std::span<std::uint8_t> space) {
  IoResult result = result_of(::recv(descriptor_.native_handle(), space.data(), space.size(), MSG_DONTWAIT));
  if (result.error == 0 && result.bytes == 0) result.error = IoResult::kEndOfStream;
  return result;
}

IoResult Connection::write(std::span<const ByteView> buffers) {
  std::array<iovec, kBuffersPerCall> vectors;
  IoResult total;
  while (!buffers.empty()) {
    const std::size_t count = std::min(buffers.size(), vectors.size());
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<std::uint8_t*>(buffers[i].data()), buffers[i].size()};
      wanted += buffers[i].size();
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

void Connection::finish_writing() { ::shutdown(descriptor_.native_handle(), SHUT_WR); }

void Connection::close() {
  std::error_code ignored;
  descriptor_.close(ignored);
}

}  // namespace spindled
