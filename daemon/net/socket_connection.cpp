#include "daemon/net/socket_connection.h"

#include <algorithm>
#include <limits>

#include "daemon/base/check.h"
#include "daemon/net/link_cipher.h"
#include "libclient/io/plain_stream.h"

namespace spindled {

namespace {

constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();

std::size_t total_bytes(std::span<const ByteView> buffers) {
  std::size_t total = 0;
  for (const ByteView& buffer : buffers) total += buffer.size();
  return total;
}

}  // namespace

SocketConnection::SocketConnection(asio::io_context& io, ConnectionId connection, FileDescriptor socket, Port at)
    : id(connection),
      port(at),
      is_unix_(is_unix_socket(socket.get())),
      descriptor_(io, socket.release()),
      stream_(std::make_unique<spindle::PlainStream>(descriptor_.native_handle())) {
  if (port == Port::link) set_unsent_mark(descriptor_.native_handle(), mark_.bytes());
}

void SocketConnection::protect(std::shared_ptr<const spindle::TlsContext> context, spindle::WallTime now) {
  auto stream = std::make_unique<spindle::TlsStream>(descriptor_.native_handle(), std::move(context), now);
  tls_ = stream.get();
  stream_ = std::move(stream);
}

IoResult SocketConnection::shake_hands() {
  const IoResult sent = stream_->flush();
  if (sent.is_failure()) return sent;
  return stream_->read({});
}

std::optional<spindle::CertificateRecord> SocketConnection::certificate() const {
  return tls_ == nullptr ? std::nullopt : tls_->peer();
}

std::unique_ptr<DatagramCipher> SocketConnection::datagram_cipher() const {
  if (tls_ == nullptr) return nullptr;
  LinkCipher::Keys keys;
  SPINDLE_CHECK(tls_->export_keys(LinkCipher::kLabel, keys));  // the node knows of no other connection
  return std::make_unique<LinkCipher>(keys, tls_->has_dialled());
}

std::string SocketConnection::reason_of(const IoResult& result) const {
  if (result.error == IoResult::kProtectionFailed) return stream_->protection_failure();
  return result.error == IoResult::kEndOfStream ? "the peer closed the connection" : describe_errno(result.error);
}

IoResult SocketConnection::discard(std::span<std::uint8_t> space) {
  return spindle::PlainStream(descriptor_.native_handle()).read(space);
}

IoResult SocketConnection::read(std::span<std::uint8_t> space) { return stream_->read(space); }

IoResult SocketConnection::write(Time now, std::span<const ByteView> buffers) {
  return port == Port::link ? write_on_link(now, buffers) : stream_->write(buffers, kNoBound);
}

/// The kernel itself looks at its mark only when it begins another piece of memory, of up to 64 KiB.
IoResult SocketConnection::write_on_link(Time now, std::span<const ByteView> buffers) {
  const bool is_bounded = mark_.bytes() < UnsentMark::kMax;
  const std::size_t offered = total_bytes(buffers);
  std::size_t room = kNoBound;
  if (is_bounded) {
    if (unsent_at_most_ + offered > mark_.bytes()) unsent_at_most_ = count_unsent();
    room = mark_.bytes() - std::min(mark_.bytes(), unsent_at_most_);
  }
  const IoResult result = stream_->write(buffers, room);
  unsent_at_most_ += result.bytes;
  if (result.bytes < offered && !result.is_failure()) {
    if (!is_bounded) unsent_at_most_ = count_unsent();
    mark_.filled(now, unsent_at_most_);
  }
  return result;
}

Duration SocketConnection::shortest_round_trip() { return spindled::shortest_round_trip(descriptor_.native_handle()); }

Duration SocketConnection::round_trip() { return spindled::round_trip(descriptor_.native_handle()); }

std::size_t SocketConnection::unacknowledged_bytes() {
  return spindled::unacknowledged_bytes(descriptor_.native_handle()) + stream_->unsent();
}

void SocketConnection::drained(Time now) {
  if (port != Port::link) return;
  unsent_at_most_ = count_unsent();
  if (mark_.drained(now, unsent_at_most_)) set_unsent_mark(descriptor_.native_handle(), mark_.bytes());
}

std::size_t SocketConnection::count_unsent() { return unsent_bytes(descriptor_.native_handle()) + stream_->unsent(); }

void SocketConnection::finish_writing() { stream_->finish_writing(); }

void SocketConnection::end_protection() {
  if (tls_ == nullptr || stream_->unsent() != 0) return;
  tls_ = nullptr;
  stream_ = std::make_unique<spindle::PlainStream>(descriptor_.native_handle());
}

void SocketConnection::close() {
  std::error_code ignored;
  descriptor_.close(ignored);
}

}  // namespace spindled
