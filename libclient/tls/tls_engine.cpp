#include "libclient/tls/tls_engine.h"

#include <array>

namespace spindle {

namespace {

constexpr std::size_t kRecordBytesMax = 16u << 10;  // of plaintext (RFC 8446, section 5.1)
/// Head, type and tag of a record.
constexpr std::size_t kRecordOverhead = 5 + 1 + 16;
/// Room for what goes in front of a record or behind it without being asked for: an update of keys, an alert.
constexpr std::size_t kReserve = 256;

}  // namespace

TlsEngine::TlsEngine(std::shared_ptr<const TlsContext> context, WallTime now, KeyLifetime key_lifetime)
    : context_(std::move(context)), key_lifetime_(key_lifetime) {
  ERR_clear_error();
  ssl_ = context_->make_ssl(now);
  BIO* const bio = ssl_ ? BIO_new(bio_method()) : nullptr;
  if (bio == nullptr) {
    fail(TlsFailure::handshake_error, false, take_openssl_errors());
    return;
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);  // which owns it now
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_info_callback(ssl_.get(), &note_alert);
  SSL_set_msg_callback(ssl_.get(), &note_message);
  SSL_set_msg_callback_arg(ssl_.get(), this);
  handshake();
}

TlsEngine::~TlsEngine() = default;

// Ciphertext.

std::span<std::uint8_t> TlsEngine::receive_space() {
  if (!unread_.empty()) return {};
  if (!incoming_) incoming_ = std::make_unique_for_overwrite<std::uint8_t[]>(kReceiveBytes);
  return {incoming_.get(), kReceiveBytes};
}

void TlsEngine::received(std::size_t bytes) {
  unread_ = {incoming_.get(), bytes};
  if (state_ == State::handshaking) handshake();
  if (state_ == State::ended || state_ == State::failed) unread_ = {};
  if (unread_.empty()) incoming_.reset();
}

void TlsEngine::received_end() {
  has_received_end_ = true;
  if (state_ == State::handshaking) fail(TlsFailure::truncated, false, "during the handshake");
}

void TlsEngine::sent(std::size_t bytes) {
  sent_ += bytes;
  if (sent_ < outgoing_.size()) return;
  outgoing_ = {};
  sent_ = 0;
}

// Plaintext.

std::size_t TlsEngine::read(std::chrono::steady_clock::time_point now, std::span<std::uint8_t> space) {
  reading_at_ = now;
  std::size_t total = 0;
  while (state_ == State::open && total < space.size() && may_have_plaintext()) {
    std::size_t bytes = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), space.data() + total, space.size() - total, &bytes);
    total += bytes;
    const bool waits = result != 1 && must_wait(result);
    // OpenSSL answers each of the peer's requests for new keys.
    if (unsent().size() > kUnsentMax) fail(TlsFailure::handshake_error, false, "the peer takes no answers");
    if (waits) break;
  }
  if (unread_.empty()) incoming_.reset();
  return total;
}

/// OpenSSL takes no more than it needs for the record that is next. Asking it in vain costs as much as a short record.
bool TlsEngine::may_have_plaintext() const {
  return !unread_.empty() || has_received_end_ || SSL_pending(ssl_.get()) > 0;
}

void TlsEngine::write(std::chrono::steady_clock::time_point now, GatheredBytes& bytes) {
  std::array<std::uint8_t, kRecordBytesMax> space;
  while (can_write() && !bytes.empty()) {
    const std::size_t used = unsent().size() + kRecordOverhead + kReserve;
    if (used >= kUnsentMax || !renew_keys(now)) return;
    const ByteView record = bytes.next(std::span(space).first(std::min(kRecordBytesMax, kUnsentMax - used)));
    if (outgoing_.empty() && record.size() == kRecordBytesMax) outgoing_.reserve(kUnsentMax);
    std::size_t written = 0;
    ERR_clear_error();
    // OpenSSL takes all or fails: what it writes to always has room.
    if (SSL_write_ex(ssl_.get(), record.data(), record.size(), &written) != 1) return fail_of_openssl();
    ++records_;
  }
}

/// Each side renews the keys that it writes with. OpenSSL does so of its own accord only when the peer asks for it.
bool TlsEngine::renew_keys(std::chrono::steady_clock::time_point now) {
  if (!keys_since_) keys_since_ = now;
  if (records_ < key_lifetime_.records && now - *keys_since_ < key_lifetime_.time) return true;
  ERR_clear_error();
  if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) {
    fail_of_openssl();
    return false;
  }
  records_ = 0;
  keys_since_ = now;
  return true;
}

void TlsEngine::finish_writing() {
  if (can_write()) close_notify();
  is_finishing_ = true;
}

void TlsEngine::close_notify() {
  ERR_clear_error();
  if (SSL_shutdown(ssl_.get()) < 0) fail_of_openssl();
}

// The handshake, and failures.

void TlsEngine::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    handshake_done();
  } else if (!must_wait(result) && state_ == State::ended) {
    fail(TlsFailure::truncated, false, "during the handshake");
  }
}

bool TlsEngine::export_keys(std::string_view label, std::span<std::uint8_t> keys) const {
  return has_shaken_hands_ && SSL_export_keying_material(ssl_.get(), keys.data(), keys.size(), label.data(),
                                                         label.size(), nullptr, 0, 0) == 1;
}

bool TlsEngine::has_dialled() const { return SSL_is_server(ssl_.get()) == 0; }

void TlsEngine::handshake_done() {
  const unsigned char* protocol = nullptr;
  unsigned protocol_size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &protocol_size);
  // Who accepts has seen to it already; a stranger that was dialled may have passed over what was offered.
  if (protocol_size == 0) return fail(TlsFailure::wrong_protocol);
  state_ = State::open;
  has_shaken_hands_ = true;
  if (const X509* certificate = SSL_get0_peer_certificate(ssl_.get())) peer_ = read_certificate(*certificate);
  if (is_finishing_) close_notify();
}

bool TlsEngine::must_wait(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      if (has_received_end_) fail(TlsFailure::truncated);
      return state_ != State::failed;
    case SSL_ERROR_ZERO_RETURN:
      state_ = State::ended;
      unread_ = {};
      return false;
    default:
      fail_of_openssl();
      return false;
  }
}

/// The alert that was sent or received says what has failed. That the certificate is the reason, OpenSSL's verification
/// says more exactly.
void TlsEngine::fail_of_openssl() {
  const std::string detail = take_openssl_errors();
  if (alert_received_) {
    return fail(failure_of(*alert_received_), true, SSL_alert_desc_string_long(*alert_received_));
  }
  const TlsFailure verified = failure_of_verification(SSL_get_verify_result(ssl_.get()));
  if (verified != TlsFailure::none) return fail(verified);
  fail(alert_sent_ ? failure_of(*alert_sent_) : TlsFailure::garbage, false, detail);
}

/// After the handshake the version is settled: a record of another one is no such record.
TlsFailure TlsEngine::failure_of(int alert) const {
  const TlsFailure failure = failure_of_alert(alert);
  return failure == TlsFailure::wrong_version && state_ != State::handshaking ? TlsFailure::garbage : failure;
}

void TlsEngine::fail(TlsFailure failure, bool is_told_by_peer, std::string_view detail) {
  if (state_ == State::failed) return;
  state_ = State::failed;
  fault_ = make_fault(failure, is_told_by_peer, detail);
  unread_ = {};
}

// What OpenSSL calls. Reading and writing go straight to and from the memory of the engine.

BIO_METHOD* TlsEngine::bio_method() {
  static const BioMethodHandle method = [] {
    BioMethodHandle made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "TLS engine"));
    BIO_meth_set_read_ex(made.get(), &bio_read);
    BIO_meth_set_write_ex(made.get(), &bio_write);
    BIO_meth_set_ctrl(made.get(), &bio_control);
    return made;
  }();
  return method.get();
}

int TlsEngine::bio_read(BIO* bio, char* space, std::size_t size, std::size_t* done) {
  ByteView& unread = static_cast<TlsEngine*>(BIO_get_data(bio))->unread_;
  BIO_clear_retry_flags(bio);
  *done = std::min(size, unread.size());
  if (*done == 0) {
    BIO_set_retry_read(bio);
    return 0;
  }
  std::memcpy(space, unread.data(), *done);
  unread = unread.subspan(*done);
  return 1;
}

int TlsEngine::bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* done) {
  std::vector<std::uint8_t>& outgoing = static_cast<TlsEngine*>(BIO_get_data(bio))->outgoing_;
  BIO_clear_retry_flags(bio);
  const ByteView record = as_bytes({bytes, size});  // bytes of one type are copied at once
  outgoing.insert(outgoing.end(), record.begin(), record.end());
  *done = size;
  return 1;
}

long TlsEngine::bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

void TlsEngine::note_alert(const SSL* ssl, int what, int alert) {
  if ((what & SSL_CB_ALERT) == 0 || (alert >> 8) != SSL3_AL_FATAL) return;
  auto& engine = *static_cast<TlsEngine*>(SSL_get_app_data(ssl));
  ((what & SSL_CB_READ) != 0 ? engine.alert_received_ : engine.alert_sent_) = alert & 0xff;
}

/// OpenSSL goes from one message to the next until there are bytes to deliver; after the failure there is nothing more
/// for it to read.
void TlsEngine::note_message(int is_sent, int, int type, const void*, std::size_t, SSL*, void* self) {
  auto& engine = *static_cast<TlsEngine*>(self);
  if (is_sent != 0 || type != SSL3_RT_HANDSHAKE || engine.state_ == State::handshaking) return;
  engine.messages_last_until_ = std::max(engine.messages_last_until_, engine.reading_at_) + kMessageInterval;
  if (engine.messages_last_until_ - engine.reading_at_ <= kMessagesAtOnce * kMessageInterval) return;
  engine.fail(TlsFailure::handshake_error, false, "the peer renews keys too often");
}

}  // namespace spindle
