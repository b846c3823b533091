// Whether what a bundle holds is enough for TLS, and belongs together.
#pragma once

#include <string>

#include "libclient/tls/certificate_bundle.h"

namespace spindle {

/// Whether a CA's certificate is signed by itself: these are trusted, and the others are shown to peers, which trust
/// the one above.
bool is_root(X509& authority);

/// False, and what to do about it in `error`, where the bundle is of no use. `needs_key`: also without a key and a
/// certificate.
bool check_bundle(const CertificateBundle& bundle, bool needs_key, std::string& error);

}  // namespace spindle
