// Lists of revoked certificates (RFC 5280, section 5).
#pragma once

#include "tools/spmonitor/pki/certificates.h"

namespace spmonitor::pki {

/// The certificates that `earlier` revokes and those of `serials`, in hexadecimal digits. `earlier` may be null.
/// Those of `serials` count as revoked from when the list is valid.
Result<spindle::RevocationListHandle> make_revocation_list(const Authority& authority, X509_CRL* earlier,
                                                           const std::vector<std::string>& serials,
                                                           const Validity& validity);

bool is_revoked(X509_CRL& list, const std::string& serial);

}  // namespace spmonitor::pki
