// One protected connection, without its socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libclient/tls/gathered_bytes.h"
#include "libclient/tls/tls_context.h"
#include "libclient/tls/tls_failure.h"

namespace spindle {

/// After how much, or how long, a direction goes on with new keys.
struct KeyLifetime {
  /// AES-GCM stays safe for 2^24.5 full records (RFC 8446, section 5.5).
  std::uint64_t records = 1u << 23;
  std::chrono::steady_clock::duration time = std::chrono::hours(1);
};

/// Ciphertext of the peer goes in by `receive_space` and `received`, ciphertext for the peer comes out by `unsent` and
/// `sent`; either may have come about by any other call. No clock is read here. One thread at a time.
class TlsEngine {
 public:
  enum class State : unsigned char {
    handshaking,
    open,
    ended,   // the peer has ended its direction in good order; this side may go on writing
    failed,  // for good
  };

  /// What may wait in `unsent` before nothing more is written. The messages of a handshake, which nothing holds back,
  /// are far shorter; a peer that asks for more than that, and takes none of it, has the connection fail.
  static constexpr std::size_t kUnsentMax = 64u << 10;
  /// How many messages a peer may send after the handshake at once, and how often one in the long run. An end of
  /// Spindle sends one in 2^23 records or an hour, see KeyLifetime.
  static constexpr int kMessagesAtOnce = 16;
  static constexpr std::chrono::steady_clock::duration kMessageInterval = std::chrono::seconds(1);

  /// `now` is what certificates are held to.
  TlsEngine(std::shared_ptr<const TlsContext> context, WallTime now, KeyLifetime key_lifetime = {});
  ~TlsEngine();
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  State state() const { return state_; }
  /// What a state of `failed` is about.
  const TlsFault& fault() const { return fault_; }
  /// Nothing before the handshake is complete, and for a peer without a certificate.
  const std::optional<CertificateRecord>& peer() const { return peer_; }
  /// Whether the handshake was completed, whatever has come of the connection since.
  bool has_shaken_hands() const { return has_shaken_hands_; }

  /// Keys that only the two ends of the connection know, the same at both (RFC 8446, section 7.5); `label` says what
  /// for. False unless the handshake was completed.
  bool export_keys(std::string_view label, std::span<std::uint8_t> keys) const;
  bool has_dialled() const;

  /// Where the next ciphertext goes. Empty as long as `read` has not used up what came before.
  std::span<std::uint8_t> receive_space();
  /// So many bytes of the space that was given last, possibly none.
  void received(std::size_t bytes);
  /// The peer's stream of ciphertext is over. That is a failure if the peer has not ended it before, see `read`.
  void received_end();

  ByteView unsent() const { return ByteView(outgoing_).subspan(sent_); }
  void sent(std::size_t bytes);

  /// Fewer bytes than `space` has: all is read that has come, and only then does `state` tell of an end or a failure
  /// behind it. After a failure there are none. A peer that has sent more messages of TLS by `now` than it may, such as
  /// those that renew keys, has the connection fail: each costs more than a full record.
  std::size_t read(std::chrono::steady_clock::time_point now, std::span<std::uint8_t> space);
  /// Takes from `bytes`, 16 KiB a record, as long as there is room; nothing unless the state is `open` or `ended`.
  void write(std::chrono::steady_clock::time_point now, GatheredBytes& bytes);
  /// The peer sees the end of this direction behind what was written, and nothing is written any more. During the
  /// handshake that waits for its end.
  void finish_writing();

 private:
  static constexpr std::size_t kReceiveBytes = 32u << 10;

  bool can_write() const { return (state_ == State::open || state_ == State::ended) && !is_finishing_; }
  void handshake();
  void handshake_done();
  /// False if the connection has failed.
  bool renew_keys(std::chrono::steady_clock::time_point now);
  void close_notify();
  /// `result` is what a call of OpenSSL gave. True if it only waits for the peer.
  bool must_wait(int result);
  /// Whether there is something to ask OpenSSL for.
  bool may_have_plaintext() const;
  void fail_of_openssl();
  TlsFailure failure_of(int alert) const;
  void fail(TlsFailure failure, bool is_told_by_peer = false, std::string_view detail = {});

  // Called by OpenSSL.
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* space, std::size_t size, std::size_t* done);
  static int bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* done);
  static long bio_control(BIO* bio, int command, long, void*);
  static void note_alert(const SSL* ssl, int what, int alert);
  static void note_message(int is_sent, int version, int type, const void* bytes, std::size_t size, SSL* ssl,
                           void* self);

  const std::shared_ptr<const TlsContext> context_;
  const KeyLifetime key_lifetime_;
  State state_ = State::handshaking;
  TlsFault fault_;
  std::optional<CertificateRecord> peer_;

  // Memory is held only while there is something in it: most connections are idle.
  std::unique_ptr<std::uint8_t[]> incoming_;
  std::span<const std::uint8_t> unread_;  // of `incoming_`
  std::vector<std::uint8_t> outgoing_;
  std::size_t sent_ = 0;  // of `outgoing_`

  std::chrono::steady_clock::time_point reading_at_;
  /// Until when the messages that came would have lasted, had they come one in an interval.
  std::chrono::steady_clock::time_point messages_last_until_;

  bool has_shaken_hands_ = false;
  bool has_received_end_ = false;
  bool is_finishing_ = false;
  std::optional<int> alert_received_, alert_sent_;                   // fatal ones
  std::uint64_t records_ = 0;                                        // written with the keys of now
  std::optional<std::chrono::steady_clock::time_point> keys_since_;  // the first record
  SslHandle ssl_;
};

}  // namespace spindle
