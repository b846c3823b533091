// Parts of certificates as text. What is not printable ASCII is escaped: a certificate may come from anybody.
#pragma once

#include <string>

#include "libclient/tls/certificate_text.h"

namespace spmonitor::pki {

using spindle::show_name;

/// Hosts and addresses among the alternative names, separated by blanks; empty where there are none.
std::string show_hosts(const X509& certificate);
/// "EC prime256v1", or the kind of key alone and how many bits it has.
std::string show_key_type(const X509& certificate);
/// The SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` has it.
std::string show_fingerprint(const X509& certificate);

}  // namespace spmonitor::pki
