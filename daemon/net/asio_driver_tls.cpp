// The part of AsioDriver that leads connections through the handshake of TLS, and that knows clients by their tokens.
#include <algorithm>

#include "daemon/net/asio_driver.h"

namespace spindled {

namespace {

/// Of a turn, and what the step takes that is begun last. A handshake takes most of a millisecond, and those who are
/// connected wait meanwhile.
constexpr auto kHandshakesPerTurn = std::chrono::milliseconds(1);

/// How often those are looked for that take too long, and how many of these end at a time: each lets another one begin.
constexpr auto kWatchInterval = std::chrono::milliseconds(250);
constexpr std::size_t kEndedPerTurn = 8;
constexpr auto kEndedInterval = std::chrono::milliseconds(2);

/// How often files of certificates are looked at: soon enough for a list of revoked ones, and too seldom to cost
/// anything.
constexpr auto kCertificateInterval = std::chrono::seconds(60);

/// What a connection takes that TLS protects, beside what it has not written, roughly.
constexpr std::size_t kProtectedBytes = 24u << 10;

/// In this order: without links there is nothing that clients could want.
constexpr Port kPrecedence[] = {Port::link, Port::admin, Port::client};

}  // namespace

void AsioDriver::protect(Protection protection) {
  protection_ = std::move(protection);
  if (!protection_) return;
  for (const auto& [number, connection] : connections_) {
    if (connection->state != SocketConnection::State::open) continue;
    if (!is_revoked(*connection)) continue;
    log_.warning("the certificate of {} is revoked: its connection ends", connection->identities().front());
    linger(*connection);
    node_->handle_closed(now(), connection->id, "the certificate was revoked");
  }
}

void AsioDriver::set_tokens(const std::vector<TokenConfig>& tokens) {
  tokens_ = Tokens(tokens);
  for (const auto& [number, connection] : connections_) {
    if (connection->state != SocketConnection::State::open) continue;
    if (connection->token.empty() || tokens_.has(connection->token)) continue;
    connection->token.clear();
    node_->handle_revoked(now(), connection->id);
  }
}

Result<std::string> AsioDriver::identify(ConnectionId id, std::string_view token) {
  Result<Tokens::Known> known = tokens_.find(token, spindle::wall_time());
  if (!known) return tl::unexpected(known.error());
  if (SocketConnection* connection = find(id)) {
    connection->token = std::move(known->digest);
    leave_line(*connection);
  }
  return std::move(known->identity);
}

void AsioDriver::watch_certificates(std::function<void()> look) {
  look_at_certificates_ = std::move(look);
  arm_certificate_timer();
}

void AsioDriver::arm_certificate_timer() {
  certificate_timer_.expires_after(kCertificateInterval);
  certificate_timer_.async_wait([this](const std::error_code&) {
    if (stopping_) return;
    look_at_certificates_();
    arm_certificate_timer();
  });
}

const std::shared_ptr<const spindle::TlsContext>& AsioDriver::context_of(Port port) const {
  if (port == Port::link) return protection_.accepted_link;
  return port == Port::admin ? protection_.accepted_admin : protection_.accepted_client;
}

void AsioDriver::protect(SocketConnection& connection, const std::shared_ptr<const spindle::TlsContext>& context) {
  connection.protect(context, spindle::wall_time());
  ++protected_;
}

void AsioDriver::end_protection(SocketConnection& connection) {
  const bool was_protected = connection.is_protected();
  connection.end_protection();
  if (was_protected && !connection.is_protected()) --protected_;
}

std::size_t AsioDriver::memory_bytes() const { return protected_ * kProtectedBytes + unsent_; }

void AsioDriver::start_handshakes(Port port) {
  while (const std::optional<ConnectionId> next = pending_.start_next(now(), port)) {
    SocketConnection* connection = find(*next);
    protect(*connection, context_of(port));
    to_shake_[static_cast<std::size_t>(port)].push_back(*next);
  }
  watch_handshakes();
}

bool AsioDriver::has_handshakes_to_do() const {
  return std::any_of(std::begin(to_shake_), std::end(to_shake_), [](const auto& line) { return !line.empty(); });
}

void AsioDriver::shake_hands() {
  if (!has_handshakes_to_do()) return;
  const auto end = std::chrono::steady_clock::now() + kHandshakesPerTurn;
  for (const Port port : kPrecedence) {
    std::deque<ConnectionId>& line = to_shake_[static_cast<std::size_t>(port)];
    while (!line.empty() && std::chrono::steady_clock::now() < end) {
      SocketConnection* connection = find(line.front());
      line.pop_front();
      if (connection != nullptr && connection->state == SocketConnection::State::handshaking) shake_hands(*connection);
    }
  }
}

void AsioDriver::shake_hands(SocketConnection& connection) {
  const IoResult result = connection.shake_hands();
  if (connection.unsent() != 0) wait_writable(connection);
  if (result.is_failure()) {
    handshake_failed(connection, connection.reason_of(result));
  } else if (connection.is_established()) {
    handshake_done(connection);
  } else {
    wait_readable(connection);
  }
}

bool AsioDriver::is_revoked(const SocketConnection& connection) const {
  const std::optional<spindle::CertificateRecord> certificate = connection.certificate();
  return protection_ && certificate && protection_.accepted_link->has_revoked(*certificate);
}

void AsioDriver::handshake_done(SocketConnection& connection) {
  // It began when other lists counted.
  if (is_revoked(connection)) return handshake_failed(connection, "the peer's certificate is revoked");
  ++handshakes_.done;
  connection.state = SocketConnection::State::open;
  const std::string* const waiting = pending_.find(connection.id);
  if (waiting == nullptr) return open_dialled(connection);
  const std::string peer = *waiting;
  connection.is_unproved = true;
  const bool is_stranger = connection.port == Port::client && connection.identities().empty();
  if (!is_stranger) leave_line(connection);
  open_accepted(connection, peer);
}

void AsioDriver::leave_line(SocketConnection& connection) {
  if (!std::exchange(connection.is_unproved, false)) return;
  pending_.remove(connection.id);
  start_handshakes(connection.port);
}

void AsioDriver::handshake_failed(SocketConnection& connection, const std::string& why) {
  ++handshakes_.refused;
  linger(connection);
  if (const std::optional<std::string> peer = pending_.remove(connection.id)) {
    log_.warning("a connection from {} is refused: {}", *peer, why);
    start_handshakes(connection.port);
  } else {
    node_->handle_closed(now(), connection.id, why);
  }
}

void AsioDriver::watch_handshakes() {
  if (pending_.empty() || handshake_timer_set_) return;
  handshake_timer_set_ = true;
  handshake_timer_.expires_after(overdue_.empty() ? kWatchInterval : kEndedInterval);
  handshake_timer_.async_wait([this](const std::error_code&) {
    handshake_timer_set_ = false;
    end_overdue_handshakes();
    watch_handshakes();
  });
}

void AsioDriver::end_overdue_handshakes() {
  if (overdue_.empty()) overdue_ = pending_.overdue(now());
  for (std::size_t i = 0; i < kEndedPerTurn && !overdue_.empty(); ++i) {
    SocketConnection* const connection = find(overdue_.back());
    overdue_.pop_back();
    if (connection == nullptr) continue;
    if (connection->state == SocketConnection::State::handshaking) {
      handshake_failed(*connection, "the handshake was not completed in time");
    } else if (connection->is_unproved) {
      linger(*connection);
      node_->handle_closed(now(), connection->id, "it has not sent a token in time");
    }
  }
}

}  // namespace spindled
