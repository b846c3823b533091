// Whether a certificate is fit for a connection of Spindle.
#pragma once

#include <optional>
#include <string_view>

#include "libclient/tls/certificate_name.h"
#include "libclient/tls/openssl_handles.h"

namespace spindle {

struct CertificateUse {
  bool accepts = false;  // on the side that accepts the connection; otherwise it dials
  std::optional<CertificateName::Kind> must_be = std::nullopt;  // nothing: anybody
  std::string_view cluster = {};                                // empty: of any
};

/// Verifies what `verification` was made for, its time and purpose included, and what only Spindle asks beyond that.
/// Gives one of X509_V_..., which `verification` has from then on, see failure_of_verification.
///
/// A revocation list that is missing is no fault, and one that is overdue counts as before: a CA that is late does not
/// bring the cluster to a halt. OpenSSL asks `tolerate_missing_list`, which is set in the store.
int check_certificate(X509_STORE_CTX& verification, const CertificateUse& use);
int tolerate_missing_list(int is_good, X509_STORE_CTX* verification);

}  // namespace spindle
