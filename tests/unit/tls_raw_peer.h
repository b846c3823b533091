// The other end of a protected connection, by OpenSSL alone: it does what no end of Spindle's would.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>

#include <optional>
#include <string>

#include "tests/unit/tls_pair.h"

namespace spindle::test {

class RawPeer {
 public:
  /// Verifies nobody, speaks the protocol of a link, or that which ALPN calls so, and has no certificate yet.
  explicit RawPeer(TlsSide side, std::string_view protocol = "\x0espindle-link/1")
      : side_(side), context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_alpn_protos(context(), as_bytes(protocol).data(), static_cast<unsigned>(protocol.size()));
    SSL_CTX_set_alpn_select_cb(context(), &take_first_protocol, nullptr);
  }

  SSL_CTX* context() { return context_.get(); }
  /// Neither offers a protocol nor chooses one.
  void forget_protocol() {
    SSL_CTX_set_alpn_protos(context(), nullptr, 0);
    SSL_CTX_set_alpn_select_cb(context(), nullptr, nullptr);
  }
  void use(const TestCertificate& certificate) {
    const BioHandle key(BIO_new_mem_buf(certificate.key.data(), -1));
    const BioHandle text(BIO_new_mem_buf(certificate.certificate.data(), -1));
    SSL_CTX_use_PrivateKey(context(), KeyHandle(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr)).get());
    SSL_CTX_use_certificate(context(),
                            CertificateHandle(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)).get());
  }

  /// Until neither has anything more to say. Gives whether this end has completed its handshake.
  bool run(TlsEngine& engine) {
    begin();
    int result = 0;
    for (bool moved = true; moved;) {
      ERR_clear_error();
      result = SSL_do_handshake(ssl_.get());
      char byte = 0;
      if (result == 1) SSL_read(ssl_.get(), &byte, 1);
      const std::string words = take_output();
      moved = !words.empty() || !engine.unsent().empty();
      feed(engine, as_bytes(words));
      read_some(engine);
      BIO_write(SSL_get_rbio(ssl_.get()), engine.unsent().data(), static_cast<int>(engine.unsent().size()));
      if (!engine.unsent().empty()) engine.sent(engine.unsent().size());
    }
    return result == 1;
  }
  /// The description of the fatal alert that the engine has sent.
  std::optional<int> alert() const { return alert_; }
  SSL* ssl() { return ssl_.get(); }

  std::string take_output() {
    std::string words(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
    BIO_read(SSL_get_wbio(ssl_.get()), words.data(), static_cast<int>(words.size()));
    return words;
  }

 private:
  static int take_first_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                                 unsigned, void*) {
    *chosen = offered + 1;
    *size = offered[0];
    return SSL_TLSEXT_ERR_OK;
  }
  void begin() {
    if (ssl_) return;
    ssl_.reset(SSL_new(context()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_info_callback(ssl_.get(), [](const SSL* ssl, int what, int alert) {
      if (what == SSL_CB_READ_ALERT) static_cast<RawPeer*>(SSL_get_app_data(ssl))->alert_ = alert & 0xff;
    });
    if (side_ == TlsSide::accepting) {
      SSL_set_accept_state(ssl_.get());
    } else {
      SSL_set_connect_state(ssl_.get());
    }
  }

  TlsSide side_;
  SslContextHandle context_;
  SslHandle ssl_;
  std::optional<int> alert_;
};

}  // namespace spindle::test
