// Files of keys and certificates in PEM (RFC 7468), and what is read out of certificates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/tls/certificate_name.h"
#include "libclient/tls/openssl_handles.h"

namespace spindle {

/// What one such file may hold. A CA's certificate is one whose basic constraints say so (RFC 5280, section 4.2.1.9).
struct CertificateBundle {
  KeyHandle key;                               // empty where there is none; it need not be the certificate's
  CertificateHandle certificate;               // of the holder, which is no CA; empty where there is none
  std::vector<CertificateHandle> authorities;  // of CAs, in the order of the file
  std::vector<RevocationListHandle> revocation_lists;

  bool is_empty() const { return !key && !certificate && authorities.empty() && revocation_lists.empty(); }
};

/// Text around the blocks, and blocks of other kinds, are passed over. Nothing, and `error` set, where a block is
/// damaged, where a key is encrypted, and where there are two keys, or two certificates that are no CA's. A text with
/// nothing of the kind gives an empty bundle.
std::optional<CertificateBundle> parse_bundle(std::string_view pem, std::string& error);

/// Null where there are none.
GeneralNamesHandle alternative_names(const X509& certificate);
/// The URIs among a certificate's alternative names that are names of this kind; nothing where there is not just one.
std::optional<CertificateName> name_of(const X509& certificate);

}  // namespace spindle
