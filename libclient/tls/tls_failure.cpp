#include "libclient/tls/tls_failure.h"

#include <openssl/ssl.h>

#include <array>

namespace spindle {

namespace {

struct Wording {
  TlsFailure failure;
  std::string_view found;         // by this side
  std::string_view told_by_peer;  // of this side
};
constexpr std::array kWordings{
    Wording{TlsFailure::none, "", ""},
    Wording{TlsFailure::untrusted, "the peer's certificate is signed by no CA certificate that is known here",
            "the peer knows no CA certificate that this side's certificate is signed by"},
    Wording{TlsFailure::expired, "the peer's certificate has expired",
            "the peer refused this side's certificate: it has expired"},
    Wording{TlsFailure::not_yet_valid, "the peer's certificate is not valid yet, or the clock here is slow",
            "the peer refused this side's certificate: it is not valid yet"},
    Wording{TlsFailure::revoked, "the peer's certificate is revoked",
            "the peer refused this side's certificate: it is revoked"},
    Wording{TlsFailure::no_certificate, "the peer has no certificate, which is required here",
            "the peer requires a certificate, and this side has none"},
    Wording{TlsFailure::no_name, "the peer's certificate has no name of Spindle, or several",
            "the peer refused this side's certificate: it has no name of Spindle"},
    Wording{TlsFailure::wrong_cluster, "the peer's certificate is of another cluster",
            "the peer refused this side's certificate: it is of another cluster"},
    Wording{TlsFailure::wrong_purpose, "the peer's certificate is for another purpose",
            "the peer refused this side's certificate: it is for another purpose"},
    Wording{TlsFailure::bad_certificate, "the peer's certificate is not acceptable",
            "the peer refused this side's certificate: it is not valid yet, has no name of Spindle, is of another "
            "cluster, or is not acceptable in another way"},
    Wording{TlsFailure::wrong_version, "the peer does not speak TLS 1.3", "the peer does not accept TLS 1.3"},
    Wording{TlsFailure::wrong_protocol, "the peer means another port, or does not speak Spindle",
            "the peer's port is for something else"},
    Wording{TlsFailure::garbage, "what came is not TLS, or was altered on its way",
            "what the peer received is not TLS, or was altered on its way"},
    Wording{TlsFailure::truncated, "the connection broke off", "the connection broke off"},
    Wording{TlsFailure::handshake_error, "TLS failed", "the peer gave up TLS"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kWordings.size(); ++i) {
    if (static_cast<std::size_t>(kWordings[i].failure) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

TlsFailure failure_of_verification(long error) {
  switch (error) {
    case X509_V_OK:
      return TlsFailure::none;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return TlsFailure::expired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return TlsFailure::not_yet_valid;
    case X509_V_ERR_CERT_REVOKED:
      return TlsFailure::revoked;
    case X509_V_ERR_INVALID_PURPOSE:
      return TlsFailure::wrong_purpose;
    case kVerifiedWithoutName:
      return TlsFailure::no_name;
    case kVerifiedOfOtherCluster:
      return TlsFailure::wrong_cluster;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return TlsFailure::untrusted;
    default:
      return TlsFailure::bad_certificate;
  }
}

TlsFailure failure_of_alert(int description) {
  switch (description) {
    case SSL_AD_UNKNOWN_CA:
      return TlsFailure::untrusted;
    case SSL_AD_CERTIFICATE_EXPIRED:
      return TlsFailure::expired;
    case SSL_AD_CERTIFICATE_REVOKED:
      return TlsFailure::revoked;
    case SSL_AD_CERTIFICATE_REQUIRED:
      return TlsFailure::no_certificate;
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return TlsFailure::wrong_purpose;
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return TlsFailure::bad_certificate;
    case SSL_AD_PROTOCOL_VERSION:
      return TlsFailure::wrong_version;
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return TlsFailure::wrong_protocol;
    case SSL_AD_UNEXPECTED_MESSAGE:
    case SSL_AD_BAD_RECORD_MAC:
    case SSL_AD_RECORD_OVERFLOW:
    case SSL_AD_DECODE_ERROR:
    case SSL_AD_DECRYPT_ERROR:
    case SSL_AD_ILLEGAL_PARAMETER:
      return TlsFailure::garbage;
    default:
      return TlsFailure::handshake_error;
  }
}

TlsFault make_fault(TlsFailure failure, bool is_told_by_peer, std::string_view detail) {
  const Wording& wording = kWordings[static_cast<std::size_t>(failure)];
  TlsFault fault{failure, is_told_by_peer, std::string(is_told_by_peer ? wording.told_by_peer : wording.found)};
  if (!detail.empty()) fault.text.append(" (").append(detail).append(")");
  return fault;
}

}  // namespace spindle
