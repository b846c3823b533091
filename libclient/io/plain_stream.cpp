#include "libclient/io/plain_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace spindle {

namespace {

/// Buffers in one system call. IOV_MAX is 1024; past some hundred the call costs far more than its entry.
constexpr std::size_t kBuffersPerCall = 256;

IoResult result_of(ssize_t outcome) {
  if (outcome >= 0) return {static_cast<std::size_t>(outcome), 0};
  return {0, errno};
}

/// Of the process at the other end, as they were when it connected.
std::vector<gid_t> further_groups(int socket) {
  socklen_t size = 0;
  // Without room it fails, and says how much it takes.
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &size) == 0 || errno != ERANGE) return {};
  std::vector<gid_t> groups(size / sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return {};
  return groups;
}

}  // namespace

IoResult PlainStream::read(std::span<std::uint8_t> space) {
  IoResult result = result_of(::recv(socket_, space.data(), space.size(), MSG_DONTWAIT));
  if (result.error == 0 && result.bytes == 0) result.error = IoResult::kEndOfStream;
  return result;
}

IoResult PlainStream::write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) {
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
    const IoResult one = result_of(::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
    total.bytes += one.bytes;
    total.error = one.error;
    if (one.bytes < wanted) break;
    buffers = buffers.subspan(count);
  }
  return total;
}

void PlainStream::finish_writing() { ::shutdown(socket_, SHUT_WR); }

void PlainStream::shut_down() { ::shutdown(socket_, SHUT_RDWR); }

std::vector<std::string> PlainStream::identities() const {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(socket_, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return {};
  ucred peer{};
  size = sizeof peer;
  if (::getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  std::vector<std::string> all{"uid:" + std::to_string(peer.uid), "gid:" + std::to_string(peer.gid)};
  for (const gid_t group : further_groups(socket_)) {
    if (group != peer.gid) all.push_back("gid:" + std::to_string(group));
  }
  return all;
}

}  // namespace spindle
