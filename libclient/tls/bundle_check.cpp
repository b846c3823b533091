#include "libclient/tls/bundle_check.h"

#include <algorithm>

namespace spindle {

namespace {

/// Whether a CA that is known here has the name of the issuer, and none of that name has signed the list. A list of
/// another CA can be checked only beside a certificate of that CA.
bool is_forged(X509_CRL& list, const CertificateBundle& bundle) {
  bool is_known = false;
  for (const CertificateHandle& issuer : bundle.authorities) {
    if (X509_NAME_cmp(X509_CRL_get_issuer(&list), X509_get_subject_name(issuer.get())) != 0) continue;
    is_known = true;
    if (X509_CRL_verify(&list, X509_get0_pubkey(issuer.get())) == 1) return false;
  }
  return is_known;
}

std::string fault_of(const CertificateBundle& bundle, bool needs_key) {
  const auto is_trusted = [](const CertificateHandle& authority) { return is_root(*authority); };
  if (bundle.is_empty()) return "there is nothing in it: no key, no certificate and no list of revoked ones in PEM";
  if (std::none_of(bundle.authorities.begin(), bundle.authorities.end(), is_trusted)) {
    return "there is no CA certificate that is signed by itself: add the one of the cluster";
  }
  if (bundle.certificate && !bundle.key) {
    return "there is a certificate and no private key: add the key that belongs to it";
  }
  if (bundle.key && !bundle.certificate) {
    return "there is a private key and no certificate: add the certificate that belongs to it";
  }
  if (needs_key && !bundle.key) return "there is no private key, and no certificate: add both";
  if (bundle.key && X509_check_private_key(bundle.certificate.get(), bundle.key.get()) != 1) {
    return "the private key does not belong to the certificate: one of the two is of another bundle";
  }
  for (const RevocationListHandle& list : bundle.revocation_lists) {
    if (is_forged(*list, bundle)) {
      return "a revocation list is not signed by the CA that it names: have that CA make it again";
    }
  }
  return {};
}

}  // namespace

bool is_root(X509& authority) { return X509_self_signed(&authority, 0) == 1; }

bool check_bundle(const CertificateBundle& bundle, bool needs_key, std::string& error) {
  error = fault_of(bundle, needs_key);
  ERR_clear_error();
  return error.empty();
}

}  // namespace spindle
