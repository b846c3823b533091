// Making keys and certificates (X.509, RFC 5280), and what is read out of them. Nothing here knows of files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libclient/tls/certificate_name.h"
#include "libclient/tls/certificate_text.h"
#include "libclient/tls/openssl_handles.h"
#include "tools/spmonitor/pki/times.h"
#include "tools/spmonitor/result.h"

namespace spmonitor::pki {

using spindle::CertificateName;

/// Takes OpenSSL's errors: "OpenSSL cannot WHAT: why".
Failure openssl_failure(std::string_view what);

/// What certificates of a cluster are signed with.
struct Authority {
  spindle::KeyHandle key;
  spindle::CertificateHandle certificate;
  std::string cluster;
};
Result<Authority> make_authority(const std::string& cluster, const Validity& validity);

struct Identity {
  spindle::KeyHandle key;
  spindle::CertificateHandle certificate;
};
struct IdentityRequest {
  CertificateName name;
  std::vector<std::string> dns_names;  // of its host, beside its own name
  std::vector<std::string> addresses;  // IPv4 or IPv6
  Validity validity;
};
Result<Identity> make_identity(const Authority& authority, const IdentityRequest& request);

/// 32 hexadecimal digits, in capitals, for a certificate made here.
std::string serial_of(const X509& certificate);
using spindle::show_serial;

/// The cluster that a CA's certificate names; empty where it names none.
std::string cluster_of(const X509& authority);
/// Whether its signature is that of `authority`.
bool is_issued_by(X509& certificate, const X509& authority);

}  // namespace spmonitor::pki
