// Why a protected connection has failed.
#pragma once

#include <openssl/x509_vfy.h>

#include <string>
#include <string_view>

namespace spindle {

enum class TlsFailure : unsigned char {
  none,
  untrusted,        // the certificate is signed by none of the CA certificates
  expired,          // so has the certificate, or one above it
  not_yet_valid,    // the certificate, or one above it
  revoked,          // a revocation list names the certificate
  no_certificate,   // where one is required
  no_name,          // the certificate names no holder of Spindle
  wrong_cluster,    // the certificate is of another one
  wrong_purpose,    // the certificate may not be used on this port, or on this side of a connection
  bad_certificate,  // in another way; alerts tell some of the above no better than this
  wrong_version,    // no TLS 1.3
  wrong_protocol,   // for another port
  garbage,          // what came is not TLS, or was altered
  truncated,        // the stream ended without close_notify
  handshake_error,  // anything else
};

struct TlsFault {
  TlsFailure failure = TlsFailure::none;
  /// The peer found the fault, in what this side sent, and said so with an alert.
  bool is_told_by_peer = false;
  std::string text;  // for people
};

/// What OpenSSL's verification says for what only Spindle checks; OpenSSL tells the peer of both as "bad certificate".
inline constexpr int kVerifiedWithoutName = X509_V_ERR_CERT_REJECTED;
inline constexpr int kVerifiedOfOtherCluster = X509_V_ERR_HOSTNAME_MISMATCH;

/// By OpenSSL's X509_V_ERR_...
TlsFailure failure_of_verification(long error);
/// By the description of an alert (RFC 8446, section 6.2): the one who sends it has found this.
TlsFailure failure_of_alert(int description);

TlsFault make_fault(TlsFailure failure, bool is_told_by_peer, std::string_view detail);

}  // namespace spindle
