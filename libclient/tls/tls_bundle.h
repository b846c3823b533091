// The keys and certificates of one side, as a file has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libclient/tls/tls_handles.h"

namespace spindle {

/// In a text of PEM (RFC 7468) the order does not matter: what a certificate is for is told by what it says.
struct TlsBundle {
  KeyHandle key;
  CertificateHandle certificate;               // the one that is not a CA's
  std::vector<CertificateHandle> chain;        // of CAs, signed by others
  std::vector<CertificateHandle> authorities;  // of CAs, signed by themselves: these are trusted
  std::vector<RevocationListHandle> revocation_lists;
};

/// Adds what `pem` has. False, and what to do about it in `error`, where that cannot be used; anything but keys,
/// certificates and revocation lists is skipped.
bool read_pem(std::string_view pem, TlsBundle& bundle, std::string& error);

/// Whether the parts belong together. `needs_key`: without a key and a certificate the bundle is of no use.
bool check_bundle(const TlsBundle& bundle, bool needs_key, std::string& error);

}  // namespace spindle
