// The file of a CA, which holds its private key and its certificate, and those that belong beside it.
#pragma once

#include <string>

#include "libclient/tls/certificate_bundle.h"
#include "tools/spmonitor/pki/certificates.h"

namespace spmonitor::pki {

/// Of "trading.ca" they are "trading.issued" and "trading.crl", in the same folder.
std::string issued_path(const std::string& authority_path);
std::string revocation_list_path(const std::string& authority_path);
/// And of "trading.crl" it is "trading.issued".
std::string issued_path_of_list(const std::string& list_path);

/// Whatever there is in a file, as long as there is something.
Result<spindle::CertificateBundle> load_bundle(const std::string& path);
/// What `spmonitor pki init` has written, and nothing else.
Result<Authority> load_authority(const std::string& path);

/// The key first, then the certificates.
Result<std::string> to_pem(EVP_PKEY& key, const std::vector<X509*>& certificates);
Result<std::string> to_pem(const std::vector<X509*>& certificates);
Result<std::string> to_pem(X509_CRL& list);

}  // namespace spmonitor::pki
