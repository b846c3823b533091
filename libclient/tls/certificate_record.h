// What is kept of a certificate.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libclient/tls/certificate_name.h"
#include "libclient/tls/tls_handles.h"

namespace spindle {

/// The time of the calendar, which certificates are bound to. Whoever calls says what it is.
using WallTime = std::chrono::sys_seconds;

struct CertificateRecord {
  CertificateName name;
  WallTime expires;
  // Which certificate it is (RFC 5280, section 4.1.2.2), both as DER.
  std::string issuer;
  std::string serial;
};

/// The one URI of Spindle among the alternative names. Nothing where there is none, or more than one.
std::optional<CertificateName> read_certificate_name(const X509& certificate);
/// Nothing where the certificate has no such name.
std::optional<CertificateRecord> read_certificate(const X509& certificate);

std::string encode_name(const X509_NAME& name);  // as DER

/// "2026-11-25 22:18:50 UTC".
std::string to_text(WallTime time);

}  // namespace spindle
