// Bytes protected by TLS, on a TCP connection or a Unix socket.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "libclient/io/byte_stream.h"
#include "libclient/tls/tls_engine.h"

namespace spindle {

/// The thread rule is that of ByteStream: a lock keeps reading and writing, which share one state of TLS, apart.
///
/// `write` takes nothing more while anything is unsent, so that what waits here is never more than the rest of one
/// write, and TlsEngine::kUnsentMax.
class TlsStream final : public ByteStream {
 public:
  /// `socket` is connected and stays open as long as this is used. The first word of who dials is unsent at once. `now`
  /// is what certificates are held to.
  TlsStream(int socket, std::shared_ptr<const TlsContext> context, WallTime now, KeyLifetime key_lifetime = {});

  bool is_established() const override;
  IoResult read(std::span<std::uint8_t> space) override;
  IoResult write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) override;
  std::size_t unsent() const override;
  IoResult flush() override;
  void finish_writing() override;
  void shut_down() override;
  /// By the certificate of the peer, such as "daemon:alpha"; empty for a peer without one.
  std::vector<std::string> identities() const override;
  std::string protection_failure() const override;

  /// Nothing before the stream is established, and for a peer without a certificate.
  std::optional<CertificateRecord> peer() const;
  TlsFault fault() const;
  /// As in TlsEngine.
  bool export_keys(std::string_view label, std::span<std::uint8_t> keys) const;
  bool has_dialled() const;

 private:
  using Lock = std::lock_guard<std::mutex>;

  // The caller of these holds the lock.
  bool is_handshaking() const;
  /// The peer is gone without a word, as when its process is killed: nothing is wrong with the protection.
  bool is_cut_off() const;
  /// Nothing more is read.
  bool is_over() const;
  /// What the socket has, for the engine.
  IoResult receive(std::span<std::uint8_t> room);
  IoResult send_unsent();

  const int socket_;
  mutable std::mutex mutex_;  // guards what follows
  TlsEngine engine_;
  bool is_finishing_ = false;
  bool output_ended_ = false;
};

}  // namespace spindle
