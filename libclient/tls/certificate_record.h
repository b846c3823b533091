// What is kept of a certificate.
#pragma once

#include <optional>
#include <string>

#include "libclient/tls/certificate_name.h"
#include "libclient/tls/certificate_time.h"
#include "libclient/tls/openssl_handles.h"

namespace spindle {

struct CertificateRecord {
  CertificateName name;
  WallTime expires;
  // Which certificate it is (RFC 5280, section 4.1.2.2), both as DER.
  std::string issuer;
  std::string serial;
};

/// Nothing where the certificate has no name, see name_of.
std::optional<CertificateRecord> read_certificate(const X509& certificate);

std::string encode_name(const X509_NAME& name);  // as DER

}  // namespace spindle
