#include "libclient/tls/tls_stream.h"

#include <sys/socket.h>

namespace spindle {

namespace {

/// Ciphertext beyond the plaintext in it that one call of `read` takes: a peer may send records of one byte each, which
/// cost far more than they bring.
constexpr std::size_t kBarrenBytesPerRead = 32u << 10;

}  // namespace

TlsStream::TlsStream(int socket, std::shared_ptr<const TlsContext> context, WallTime now, KeyLifetime key_lifetime)
    : socket_(socket), engine_(std::move(context), now, key_lifetime) {}

bool TlsStream::is_established() const {
  const Lock lock(mutex_);
  return engine_.state() == TlsEngine::State::open || engine_.state() == TlsEngine::State::ended;
}

IoResult TlsStream::read(std::span<std::uint8_t> space) {
  const auto now = std::chrono::steady_clock::now();
  const Lock lock(mutex_);
  IoResult result{engine_.read(now, space), 0};
  std::size_t received = 0;
  bool socket_may_have_more = true;
  while ((result.bytes < space.size() || is_handshaking()) && !is_over() && socket_may_have_more &&
         received < result.bytes + kBarrenBytesPerRead) {
    const std::span<std::uint8_t> room = engine_.receive_space();
    const IoResult one = receive(room);
    received += one.bytes;
    socket_may_have_more = one.bytes == room.size();
    result.bytes += engine_.read(now, space.subspan(result.bytes));
    if (one.is_failure()) result.error = one.error;
  }
  send_unsent();  // a failure of which is for who writes
  if (result.bytes == space.size() && !space.empty()) {
    result.error = 0;  // there may be more in front of it
  } else if (engine_.state() == TlsEngine::State::failed) {
    result.error = is_cut_off() ? ECONNRESET : IoResult::kProtectionFailed;
  } else if (engine_.state() == TlsEngine::State::ended) {
    result.error = IoResult::kEndOfStream;
  } else if (result.bytes == 0 && result.error == 0) {
    result.error = EAGAIN;
  }
  return result;
}

IoResult TlsStream::write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) {
  const auto now = std::chrono::steady_clock::now();
  const Lock lock(mutex_);
  if (is_finishing_) return {0, EPIPE};
  GatheredBytes bytes(buffers, bytes_max);
  IoResult sent = send_unsent();
  for (bool goes_on = true; goes_on && engine_.unsent().empty() && !sent.is_failure();) {
    const std::size_t taken = bytes.taken();
    engine_.write(now, bytes);
    goes_on = bytes.taken() > taken;
    sent = send_unsent();
  }
  if (engine_.state() == TlsEngine::State::failed) return {bytes.taken(), IoResult::kProtectionFailed};
  if (sent.is_failure()) return {bytes.taken(), sent.error};
  return {bytes.taken(), bytes.empty() ? 0 : EAGAIN};
}

std::size_t TlsStream::unsent() const {
  const Lock lock(mutex_);
  return engine_.unsent().size();
}

IoResult TlsStream::flush() {
  const Lock lock(mutex_);
  return send_unsent();
}

void TlsStream::finish_writing() {
  const Lock lock(mutex_);
  is_finishing_ = true;
  engine_.finish_writing();
  send_unsent();
}

void TlsStream::shut_down() { ::shutdown(socket_, SHUT_RDWR); }

std::vector<std::string> TlsStream::identities() const {
  const Lock lock(mutex_);
  if (!engine_.peer()) return {};
  return {to_identity(engine_.peer()->name)};
}

std::string TlsStream::protection_failure() const { return fault().text; }

std::optional<CertificateRecord> TlsStream::peer() const {
  const Lock lock(mutex_);
  return engine_.peer();
}

bool TlsStream::export_keys(std::string_view label, std::span<std::uint8_t> keys) const {
  const Lock lock(mutex_);
  return engine_.export_keys(label, keys);
}

bool TlsStream::has_dialled() const {
  const Lock lock(mutex_);
  return engine_.has_dialled();
}

TlsFault TlsStream::fault() const {
  const Lock lock(mutex_);
  return engine_.fault();
}

bool TlsStream::is_handshaking() const { return engine_.state() == TlsEngine::State::handshaking; }

bool TlsStream::is_cut_off() const {
  return engine_.fault().failure == TlsFailure::truncated && engine_.has_shaken_hands();
}

bool TlsStream::is_over() const {
  return engine_.state() == TlsEngine::State::ended || engine_.state() == TlsEngine::State::failed;
}

IoResult TlsStream::receive(std::span<std::uint8_t> room) {
  const ssize_t outcome = ::recv(socket_, room.data(), room.size(), MSG_DONTWAIT);
  const int error = outcome < 0 ? errno : 0;
  engine_.received(outcome > 0 ? static_cast<std::size_t>(outcome) : 0);
  if (outcome == 0) engine_.received_end();
  return {outcome > 0 ? static_cast<std::size_t>(outcome) : 0, error};
}

IoResult TlsStream::send_unsent() {
  IoResult total;
  while (!engine_.unsent().empty() && total.error == 0) {
    const ByteView rest = engine_.unsent();
    const ssize_t outcome = ::send(socket_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (outcome < 0) {
      total.error = errno;
    } else {
      engine_.sent(static_cast<std::size_t>(outcome));
      total.bytes += static_cast<std::size_t>(outcome);
    }
  }
  const bool says_end = is_finishing_ && !is_handshaking();
  if (says_end && engine_.unsent().empty() && !output_ended_) {
    output_ended_ = true;
    ::shutdown(socket_, SHUT_WR);
  }
  return total;
}

}  // namespace spindle
