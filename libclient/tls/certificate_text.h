// Parts of certificates as text. What is not printable ASCII is escaped: a certificate may come from anybody.
#pragma once

#include <string>
#include <string_view>

#include "libclient/tls/openssl_handles.h"

namespace spindle {

/// "O = trading, CN = alpha".
std::string show_name(const X509_NAME& name);
/// Hexadecimal digits, in capitals.
std::string show_serial(const ASN1_INTEGER* serial);
/// The same of a serial as DER, as CertificateRecord has it; empty where it is none.
std::string show_serial(std::string_view der);

}  // namespace spindle
