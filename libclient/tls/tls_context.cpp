#include "libclient/tls/tls_context.h"

#include <array>
#include <iterator>

#include "libclient/common/bytes.h"
#include "libclient/tls/bundle_check.h"
#include "libclient/tls/certificate_check.h"
#include "libclient/tls/tls_failure.h"

namespace spindle {

namespace {

/// As ALPN has them, with their lengths in front (RFC 7301, section 3.1).
constexpr std::array<std::string_view, 3> kProtocols{"\x0espindle-link/1", "\x10spindle-client/1",
                                                     "\x0fspindle-admin/1"};

constexpr char kGroups[] = "X25519:P-256";
/// All that RFC 8446 has for streams, the fastest one first: AES with 128 bits takes a tenth less than with 256.
constexpr char kCipherSuites[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

const unsigned char* as_unsigned(std::string_view text) { return as_bytes(text).data(); }

/// What is wrong with this side's own certificate, and what to do.
std::string explain(int verified, const std::optional<CertificateRecord>& record) {
  const std::string whose = record ? "the certificate of " + to_identity(record->name) : "the certificate";
  switch (failure_of_verification(verified)) {
    case TlsFailure::no_name:
      return whose + " has no name of Spindle, \"spindle://CLUSTER/KIND/NAME\", or several: have one made for Spindle";
    case TlsFailure::untrusted:
      return whose + " is signed by no CA certificate of the bundle: add the one that signed it";
    case TlsFailure::expired:
      return whose + ", or a CA's above it, has expired" +
             (record ? " (it lasts until " + show_time(record->expires) + ")" : "") +
             ": renew it with `spmonitor pki issue`";
    case TlsFailure::not_yet_valid:
      return whose + ", or a CA's above it, is not valid yet: see whether the clock of this machine is right";
    case TlsFailure::revoked:
      return whose + " is revoked: have another one made, with another key";
    case TlsFailure::wrong_purpose:
      return whose +
             " is for another purpose: a daemon needs one that names a daemon, with the extended key usages "
             "serverAuth and clientAuth; whoever else dials one with clientAuth, and for administration that of an "
             "operator";
    default:
      return whose + " is not acceptable: " + X509_verify_cert_error_string(verified);
  }
}

bool add_revocation_lists(std::string_view pem, CertificateBundle& bundle, std::string& error) {
  if (pem.empty()) return true;
  std::optional<CertificateBundle> read = parse_bundle(pem, error);
  if (read && read->revocation_lists.empty()) error = "there are none in it";
  if (!error.empty()) {
    error.insert(0, "of the revocation lists: ");
    return false;
  }
  std::move(read->revocation_lists.begin(), read->revocation_lists.end(), std::back_inserter(bundle.revocation_lists));
  return true;
}

}  // namespace

std::shared_ptr<const TlsContext> TlsContext::make(const TlsRole& role, std::string_view bundle,
                                                   std::string_view revocation_lists, WallTime now,
                                                   std::string& error) {
  const std::shared_ptr<TlsContext> made(new TlsContext(role));
  error.clear();
  std::optional<CertificateBundle> parts = parse_bundle(bundle, error);
  if (!parts || !add_revocation_lists(revocation_lists, *parts, error)) return nullptr;
  if (!check_bundle(*parts, made->needs_certificate(), error)) return nullptr;
  if (!made->set_up(*parts, error) || !made->check_own_certificate(*parts, now, error)) return nullptr;
  made->revocation_lists_ = std::move(parts->revocation_lists);
  return made;
}

std::optional<CertificateName::Kind> TlsContext::holder_on(TlsSide side) const {
  if (side == TlsSide::accepting || role_.port == TlsPort::link) return CertificateName::Kind::daemon;
  if (role_.port == TlsPort::admin) return CertificateName::Kind::administrator;
  return std::nullopt;
}

std::string_view TlsContext::protocol() const { return kProtocols[static_cast<std::size_t>(role_.port)]; }

bool TlsContext::set_up(const CertificateBundle& bundle, std::string& error) {
  ERR_clear_error();
  ssl_context_.reset(SSL_CTX_new(role_.side == TlsSide::accepting ? TLS_server_method() : TLS_client_method()));
  SSL_CTX* const context = ssl_context_.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 || SSL_CTX_set1_groups_list(context, kGroups) != 1 ||
      SSL_CTX_set_ciphersuites(context, kCipherSuites) != 1 || SSL_CTX_set_num_tickets(context, 0) != 1 ||
      !use_certificates(bundle)) {
    error = "OpenSSL cannot be set up: " + take_openssl_errors();
    return false;
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  if (role_.side == TlsSide::accepting) {
    SSL_CTX_set_client_hello_cb(context, &require_protocol, this);
    SSL_CTX_set_alpn_select_cb(context, &select_protocol, this);
  } else if (SSL_CTX_set_alpn_protos(context, as_unsigned(protocol()), static_cast<unsigned>(protocol().size())) != 0) {
    error = "OpenSSL has no memory for a name";
    return false;
  }
  const bool is_optional = role_.port == TlsPort::client && !role_.requires_certificate;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (is_optional ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT), nullptr);
  SSL_CTX_set_cert_verify_callback(context, &verify_peer, this);
  return true;
}

bool TlsContext::use_certificates(const CertificateBundle& bundle) {
  SSL_CTX* const context = ssl_context_.get();
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  X509_STORE_set_verify_cb(store, &tolerate_missing_list);
  bool is_good = true;
  for (const auto& authority : bundle.authorities) {
    if (is_root(*authority)) is_good &= X509_STORE_add_cert(store, authority.get()) == 1;
  }
  for (const auto& list : bundle.revocation_lists) is_good &= X509_STORE_add_crl(store, list.get()) == 1;
  if (!bundle.revocation_lists.empty()) is_good &= X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK) == 1;
  if (!bundle.certificate) return is_good;
  is_good &= SSL_CTX_use_certificate(context, bundle.certificate.get()) == 1;
  is_good &= SSL_CTX_use_PrivateKey(context, bundle.key.get()) == 1;
  for (const auto& authority : bundle.authorities) {
    if (!is_root(*authority)) is_good &= SSL_CTX_add1_chain_cert(context, authority.get()) == 1;
  }
  return is_good;
}

bool TlsContext::check_own_certificate(const CertificateBundle& bundle, WallTime now, std::string& error) {
  if (!bundle.certificate) return true;
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(ssl_context_.get(), &chain);
  ERR_clear_error();
  const VerificationHandle verification(X509_STORE_CTX_new());
  if (!verification || X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(ssl_context_.get()),
                                           bundle.certificate.get(), chain) != 1) {
    error = "OpenSSL cannot verify certificates: " + take_openssl_errors();
    return false;
  }
  const bool accepts = role_.side == TlsSide::accepting;
  X509_STORE_CTX_set_default(verification.get(), accepts ? "ssl_server" : "ssl_client");
  X509_STORE_CTX_set_time(verification.get(), 0, now.time_since_epoch().count());
  certificate_ = read_certificate(*bundle.certificate);
  const int result =
      check_certificate(*verification, {.accepts = accepts, .must_be = holder_on(role_.side), .cluster = {}});
  if (result == X509_V_OK) return true;
  error = explain(result, certificate_);
  return false;
}

bool TlsContext::has_revoked(const CertificateRecord& certificate) const {
  const unsigned char* at = as_unsigned(certificate.serial);
  const AsnIntegerHandle serial(d2i_ASN1_INTEGER(nullptr, &at, static_cast<long>(certificate.serial.size())));
  if (!serial) return false;
  for (const RevocationListHandle& list : revocation_lists_) {
    X509_REVOKED* entry = nullptr;
    constexpr int kRevoked = 1;  // 2: a list of changes takes it back
    if (encode_name(*X509_CRL_get_issuer(list.get())) == certificate.issuer &&
        X509_CRL_get0_by_serial(list.get(), &entry, serial.get()) == kRevoked) {
      return true;
    }
  }
  return false;
}

SslHandle TlsContext::make_ssl(WallTime now) const {
  SslHandle ssl(SSL_new(ssl_context_.get()));
  if (!ssl) return ssl;
  X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl.get()), now.time_since_epoch().count());
  if (role_.side == TlsSide::accepting) {
    SSL_set_accept_state(ssl.get());
  } else {
    SSL_set_connect_state(ssl.get());
  }
  return ssl;
}

int TlsContext::select_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                                const unsigned char* offered, unsigned offered_size, void* self) {
  const std::string_view wanted = static_cast<const TlsContext*>(self)->protocol();
  const int outcome = SSL_select_next_proto(const_cast<unsigned char**>(chosen), chosen_size, as_unsigned(wanted),
                                            static_cast<unsigned>(wanted.size()), offered, offered_size);
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// OpenSSL asks `select_protocol` only where the peer offers any. A peer that does not know TLS 1.3 is told that first.
int TlsContext::require_protocol(SSL* ssl, int* alert, void*) {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  const auto has = [&](unsigned type) { return SSL_client_hello_get0_ext(ssl, type, &bytes, &size) == 1; };
  if (has(TLSEXT_TYPE_application_layer_protocol_negotiation) || !has(TLSEXT_TYPE_supported_versions)) {
    return SSL_CLIENT_HELLO_SUCCESS;
  }
  *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
  return SSL_CLIENT_HELLO_ERROR;
}

int TlsContext::verify_peer(X509_STORE_CTX* verification, void* self) {
  const auto& context = *static_cast<const TlsContext*>(self);
  const bool peer_accepts = context.role_.side == TlsSide::dialling;
  CertificateUse use;
  use.accepts = peer_accepts;
  use.must_be = context.holder_on(peer_accepts ? TlsSide::accepting : TlsSide::dialling);
  if (context.certificate_) use.cluster = context.certificate_->name.cluster;
  return check_certificate(*verification, use) == X509_V_OK ? 1 : 0;
}

}  // namespace spindle
