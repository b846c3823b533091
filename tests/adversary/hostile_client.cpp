#include "tests/adversary/hostile_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/payload_frames.h"

namespace spindle::test {

namespace {

constexpr int kLookMs = 20;  // how soon a stop is noticed

Bytes group_request(protocol::ClientFrame type, const std::string& group) {
  Bytes frame;
  protocol::write_group_request(frame, type, {1, group});
  return frame;
}

}  // namespace

HostileClient::HostileClient(const std::string& text) {
  Address address;
  if (!parse_address(text, address)) throw std::runtime_error("not an address: " + text);
  std::error_code error;
  std::string why;
  socket_ = connect_socket(address, Clock::now() + kPatience, error, why);
  if (error) throw std::system_error(error, why);
}

HostileClient::HostileClient(const Daemon& daemon, const std::string& name, std::uint8_t flags)
    : HostileClient("unix:" + daemon.socket()) {
  write(hello_frame(name, flags), {});
}

bool HostileClient::write(const Bytes& bytes, const std::stop_token& stop, bool reads) {
  for (std::size_t written = 0; written < bytes.size() && !closed_;) {
    if (stop.stop_requested()) return false;
    pollfd ready{socket_.get(), static_cast<short>(POLLOUT | (reads ? POLLIN : 0)), 0};
    if (::poll(&ready, 1, kLookMs) <= 0) continue;
    if (reads && (ready.revents & POLLIN) != 0) drain();
    if ((ready.revents & (POLLOUT | POLLERR | POLLHUP)) == 0) continue;
    const ssize_t count = ::send(socket_.get(), bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (count > 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      closed_ = true;
    }
  }
  return !closed_;
}

void HostileClient::drain() {
  std::array<std::uint8_t, 1 << 16> bytes;
  while (!closed_) {
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) closed_ = true;
    if (count < static_cast<ssize_t>(bytes.size())) return;
  }
}

void repeat(const Daemon& daemon, const Bytes& start, const Bytes& bytes, const std::stop_token& stop, bool reads) {
  while (!stop.stop_requested()) {
    HostileClient client(daemon);
    if (!client.write(start, stop, reads)) continue;
    while (client.write(bytes, stop, reads)) {
    }
  }
}

Bytes hello_frame(const std::string& name, std::uint8_t flags) {
  Bytes frame;
  protocol::Hello hello;
  hello.flags = flags;
  hello.name = name;
  protocol::write_hello(frame, hello);
  return frame;
}

Bytes join_frame(const std::string& group) { return group_request(protocol::ClientFrame::join, group); }

Bytes leave_frame(const std::string& group) { return group_request(protocol::ClientFrame::leave, group); }

Bytes define_frame(std::uint32_t handle, const std::vector<std::string>& names) {
  Bytes frame;
  protocol::write_define(frame, {handle, {names.begin(), names.end()}});
  return frame;
}

Bytes message_frames(std::uint32_t handle, Service service, std::size_t bytes) {
  Bytes frames;
  const Bytes payload(std::min(bytes, spindle::kChunkBytesMax), 'x');
  append_send_frame(frames,
                    {handle, static_cast<std::uint8_t>(service), false, 0, static_cast<std::uint32_t>(bytes), payload});
  for (std::size_t sent = payload.size(); sent < bytes;) {
    const std::size_t part = std::min(bytes - sent, spindle::kChunkBytesMax);
    frames += make_frame(static_cast<std::uint8_t>(protocol::ClientFrame::send_more), part);
    sent += part;
  }
  return frames;
}

Bytes& operator+=(Bytes& first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Crowd::Crowd(const Daemon& daemon, std::size_t count, const std::string& group) {
  const Bytes join = join_frame(group);
  for (std::size_t i = 0; i < count; ++i) members_.emplace_back(daemon).write(join, {});
  reading_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) read();
  });
}

Crowd::~Crowd() = default;

void Crowd::read() {
  std::vector<pollfd> sockets;
  for (const HostileClient& member : members_) {
    sockets.push_back({member.is_closed() ? -1 : member.descriptor(), POLLIN, 0});
  }
  if (::poll(sockets.data(), sockets.size(), kLookMs) <= 0) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (sockets[i].revents != 0) members_[i].drain();
  }
}

std::size_t Crowd::cut_off() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const HostileClient& member) { return member.is_closed(); }));
}

}  // namespace spindle::test
