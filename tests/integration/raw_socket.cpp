#include "tests/integration/raw_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <random>
#include <stdexcept>
#include <system_error>

#include "daemon/admin/admin_frames.h"
#include "daemon/link/hello.h"
#include "daemon/wire/control.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"
#include "tests/integration/process.h"

namespace spindle::test {

Bytes make_frame(std::uint8_t type, spindle::ByteView body) {
  Bytes frame = make_frame_head(type, body.size());
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

Bytes make_frame(std::uint8_t type, std::size_t bytes) { return make_frame(type, Bytes(bytes)); }

Bytes make_frame_head(std::uint8_t type, std::size_t bytes) {
  Bytes head(spindle::kFrameHeadBytes);
  spindle::Writer writer(head.data());
  spindle::write_frame_head(writer, type, bytes);
  return head;
}

Bytes make_link_hello(const std::string& name) {
  spindled::NodeConfig config;
  config.name = name;
  return make_frame(static_cast<std::uint8_t>(spindled::LinkFrame::control),
                    spindled::encode_control(spindled::make_hello(config)));
}

Bytes join(const Bytes& first, const Bytes& second) {
  Bytes result = first;
  result.insert(result.end(), second.begin(), second.end());
  return result;
}

Bytes random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes result(count);
  for (std::uint8_t& byte : result) byte = static_cast<std::uint8_t>(random());
  return result;
}

RawSocket::RawSocket(const std::string& text) {
  Address address;
  if (!parse_address(text, address)) throw std::runtime_error("not an address: " + text);
  std::error_code error;
  std::string why;
  socket_ = connect_socket(address, Clock::now() + kPatience, error, why);
  if (error) throw std::system_error(error, why);
  ::fcntl(socket_.get(), F_SETFL, 0);  // blocking
  const timeval patience{kPatience.count(), 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void RawSocket::write(const Bytes& bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) throw std::runtime_error("the peer takes nothing");
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

std::size_t RawSocket::read_some(std::span<std::uint8_t> space) {
  ssize_t count = 0;
  // A process that was stopped and goes on is interrupted in calls that have a time limit (signal(7)).
  do {
    count = ::recv(socket_.get(), space.data(), space.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) throw std::runtime_error("the peer says nothing and does not hang up");
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

bool RawSocket::read_all(std::uint8_t* at, std::size_t size) {
  while (size > 0) {
    const std::size_t count = read_some({at, size});
    if (count == 0) return false;
    at += count;
    size -= count;
  }
  return true;
}

std::optional<RawFrame> RawSocket::read_frame() {
  Bytes head(spindle::kFrameHeadBytes);
  if (!read_all(head.data(), head.size())) return std::nullopt;
  const spindle::FrameHead parsed = *spindle::read_frame_head(head);
  RawFrame frame{parsed.type, Bytes(parsed.length)};
  if (!read_all(frame.body.data(), frame.body.size())) return std::nullopt;
  return frame;
}

std::optional<RawFrame> RawSocket::read_last_frame() {
  std::optional<RawFrame> last;
  while (std::optional<RawFrame> frame = read_frame()) last = std::move(frame);
  return last;
}

CloseReason read_client_close(RawSocket& socket) {
  const std::optional<RawFrame> frame = socket.read_last_frame();
  if (!frame || frame->type != static_cast<std::uint8_t>(protocol::ClientFrame::close)) return {};
  const std::optional<protocol::Close> close = protocol::read_close(frame->body);
  return close ? CloseReason{close->code, std::string(close->text)} : CloseReason{};
}

CloseReason read_link_close(RawSocket& socket) {
  const std::optional<RawFrame> frame = socket.read_last_frame();
  if (!frame || frame->type != static_cast<std::uint8_t>(spindled::LinkFrame::close)) return {};
  const std::optional<spindled::LinkClose> close = spindled::read_link_close(frame->body);
  return close ? CloseReason{close->code, close->text} : CloseReason{};
}

CloseReason read_admin_close(RawSocket& socket) {
  const std::optional<RawFrame> frame = socket.read_last_frame();
  if (!frame || frame->type != static_cast<std::uint8_t>(spindled::AdminFrame::error)) return {};
  spindle::Reader reader(frame->body);
  const std::uint16_t code = reader.u16();
  return {code, std::string(spindle::as_text(reader.rest()))};
}

}  // namespace spindle::test
