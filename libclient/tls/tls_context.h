// What the protected connections of one role have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/tls/certificate_bundle.h"
#include "libclient/tls/certificate_record.h"

namespace spindle {

enum class TlsPort : unsigned char { link, client, admin };
enum class TlsSide : unsigned char { accepting, dialling };

struct TlsRole {
  TlsPort port = TlsPort::link;
  TlsSide side = TlsSide::accepting;
  /// Whether who accepts a client refuses one without a certificate. On other ports it always does.
  bool requires_certificate = true;
};

/// TLS 1.3 and nothing older, without tickets, resumption and early data; each port has an ALPN name (RFC 7301).
///
/// A certificate is accepted if it is signed by a CA certificate of the bundle, valid, not revoked and of the cluster
/// that this side's own is of; if its extended key usage says serverAuth for who accepts, clientAuth for who dials; and
/// if it names a daemon where a daemon must be: at both ends of a link, and as who accepts elsewhere; and an operator
/// where one dials for administration. What the holder may do is for others to decide, by its name.
///
/// Nothing changes in a context: any thread may use it. To go by another bundle, make another context; connections keep
/// the one that they began with.
class TlsContext {
 public:
  /// `bundle` and `revocation_lists` are texts of PEM, see CertificateBundle; a client that dials needs no key and no
  /// certificate. Lists may be in either; of the other text, which may be empty, nothing else counts. On failure
  /// nothing, and in `error` what is wrong and what to do; never a part of the key.
  static std::shared_ptr<const TlsContext> make(const TlsRole& role, std::string_view bundle,
                                                std::string_view revocation_lists, WallTime now, std::string& error);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  const TlsRole& role() const { return role_; }
  /// Of this side; nothing if it has none.
  const std::optional<CertificateRecord>& certificate() const { return certificate_; }

  /// Whether a revocation list of this context names `certificate`, which an older context may have accepted. The owner
  /// ends such a connection.
  bool has_revoked(const CertificateRecord& certificate) const;

  /// An SSL object of this role, for which it is `now`: certificates are held to that. Null if there is no memory.
  SslHandle make_ssl(WallTime now) const;

 private:
  explicit TlsContext(const TlsRole& role) : role_(role) {}

  bool set_up(const CertificateBundle& bundle, std::string& error);
  bool use_certificates(const CertificateBundle& bundle);
  bool check_own_certificate(const CertificateBundle& bundle, WallTime now, std::string& error);
  bool needs_certificate() const { return role_.port != TlsPort::client || role_.side == TlsSide::accepting; }
  /// Who has to be on that side of this port; nothing: anybody.
  std::optional<CertificateName::Kind> holder_on(TlsSide side) const;
  std::string_view protocol() const;

  // Called by OpenSSL.
  static int select_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_size,
                             const unsigned char* offered, unsigned offered_size, void* self);
  static int require_protocol(SSL* ssl, int* alert, void* self);
  static int verify_peer(X509_STORE_CTX* verification, void* self);

  const TlsRole role_;
  std::optional<CertificateRecord> certificate_;
  std::vector<RevocationListHandle> revocation_lists_;
  SslContextHandle ssl_context_;
};

}  // namespace spindle
