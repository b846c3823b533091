#include "libclient/tls/certificate_check.h"

#include "libclient/tls/certificate_bundle.h"
#include "libclient/tls/tls_failure.h"

namespace spindle {

namespace {

/// OpenSSL takes a certificate without the extension for one of every purpose.
bool may_be_used(X509& certificate, const CertificateUse& use) {
  if ((X509_get_extension_flags(&certificate) & EXFLAG_XKUSAGE) == 0) return false;
  const std::uint32_t wanted = use.accepts ? XKU_SSL_SERVER : XKU_SSL_CLIENT;
  return (X509_get_extended_key_usage(&certificate) & wanted) != 0;
}

int check_holder(X509& certificate, const CertificateUse& use) {
  const std::optional<CertificateName> name = name_of(certificate);
  if (!name) return kVerifiedWithoutName;
  if (!use.cluster.empty() && name->cluster != use.cluster) return kVerifiedOfOtherCluster;
  const bool is_wanted = !use.must_be || name->kind == *use.must_be;
  if (!may_be_used(certificate, use) || !is_wanted) return X509_V_ERR_INVALID_PURPOSE;
  return X509_V_OK;
}

}  // namespace

int check_certificate(X509_STORE_CTX& verification, const CertificateUse& use) {
  int error = X509_V_OK;
  if (X509_verify_cert(&verification) != 1) {
    error = X509_STORE_CTX_get_error(&verification);
    if (error == X509_V_OK) error = X509_V_ERR_UNSPECIFIED;
    // Two CAs may have one name; that a certificate is not of this one shows only in the signature then.
    if (error == X509_V_ERR_CERT_SIGNATURE_FAILURE) error = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
  } else {
    error = check_holder(*X509_STORE_CTX_get0_cert(&verification), use);
  }
  X509_STORE_CTX_set_error(&verification, error);
  return error;
}

int tolerate_missing_list(int is_good, X509_STORE_CTX* verification) {
  if (is_good != 0) return is_good;
  switch (X509_STORE_CTX_get_error(verification)) {
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_CRL_HAS_EXPIRED:
    case X509_V_ERR_CRL_NOT_YET_VALID:
      X509_STORE_CTX_set_error(verification, X509_V_OK);
      return 1;
    default:
      return 0;
  }
}

}  // namespace spindle
