#include "libclient/tls/tls_bundle.h"

#include <openssl/err.h>
#include <openssl/pem.h>

namespace spindle {

namespace {

/// One "-----BEGIN ...-----" and what stands below it.
class PemBlock {
 public:
  PemBlock() = default;
  PemBlock(const PemBlock&) = delete;
  PemBlock& operator=(const PemBlock&) = delete;
  ~PemBlock() { clear(); }

  /// False at the end of the text, and where it is malformed: OpenSSL's queue of errors tells which.
  bool read(BIO& from) {
    clear();
    return PEM_read_bio(&from, &name_, &header_, &bytes_, &size_) == 1;
  }
  std::string_view name() const { return name_; }
  bool is_encrypted() const { return *header_ != '\0' || name() == PEM_STRING_PKCS8; }
  /// `read_der` is one of the d2i_ functions.
  template <typename Object>
  Object* decode(Object* (*read_der)(Object**, const unsigned char**, long)) const {
    const unsigned char* at = bytes_;
    return read_der(nullptr, &at, size_);
  }

 private:
  void clear() {
    OPENSSL_free(name_);
    OPENSSL_free(header_);
    OPENSSL_clear_free(bytes_, static_cast<std::size_t>(size_));  // it may be a key
    name_ = nullptr;
    header_ = nullptr;
    bytes_ = nullptr;
    size_ = 0;
  }

  char* name_ = nullptr;
  char* header_ = nullptr;
  unsigned char* bytes_ = nullptr;
  long size_ = 0;
};

bool add_certificate(CertificateHandle certificate, TlsBundle& bundle, std::string& error) {
  if (!certificate) {
    error = "a certificate cannot be read: " + take_openssl_error();
  } else if (X509_check_ca(certificate.get()) == 1) {
    const bool is_root = X509_self_signed(certificate.get(), 0) == 1;
    (is_root ? bundle.authorities : bundle.chain).push_back(std::move(certificate));
  } else if (bundle.certificate) {
    error = "there are several certificates that are not of a CA: leave the one that belongs to the key";
  } else {
    bundle.certificate = std::move(certificate);
  }
  return error.empty();
}

bool add_key(const PemBlock& block, TlsBundle& bundle, std::string& error) {
  if (block.is_encrypted()) {
    error = "the private key is encrypted: decrypt it, and let nobody else read the file";
  } else if (bundle.key) {
    error = "there are several private keys: leave the one that belongs to the certificate";
  } else if (bundle.key.reset(block.decode(&d2i_AutoPrivateKey)); !bundle.key) {
    error = "the private key cannot be read: " + take_openssl_error();
  }
  return error.empty();
}

bool add_revocation_list(RevocationListHandle list, TlsBundle& bundle, std::string& error) {
  if (!list) {
    error = "a revocation list cannot be read: " + take_openssl_error();
    return false;
  }
  bundle.revocation_lists.push_back(std::move(list));
  return true;
}

bool add(const PemBlock& block, TlsBundle& bundle, std::string& error) {
  if (block.name() == PEM_STRING_X509) {
    return add_certificate(CertificateHandle(block.decode(&d2i_X509)), bundle, error);
  }
  if (block.name() == PEM_STRING_X509_CRL) {
    return add_revocation_list(RevocationListHandle(block.decode(&d2i_X509_CRL)), bundle, error);
  }
  return !block.name().ends_with(PEM_STRING_PKCS8INF) || add_key(block, bundle, error);
}

/// Whether a CA that is known here has the name of the issuer, and none of that name has signed the list. A list of
/// another CA can be checked only beside a certificate of that CA.
bool is_forged(X509_CRL& list, const TlsBundle& bundle) {
  bool is_known = false;
  for (const auto* issuers : {&bundle.authorities, &bundle.chain}) {
    for (const CertificateHandle& issuer : *issuers) {
      if (X509_NAME_cmp(X509_CRL_get_issuer(&list), X509_get_subject_name(issuer.get())) != 0) continue;
      is_known = true;
      if (X509_CRL_verify(&list, X509_get0_pubkey(issuer.get())) == 1) return false;
    }
  }
  return is_known;
}

}  // namespace

bool read_pem(std::string_view pem, TlsBundle& bundle, std::string& error) {
  error.clear();
  if (pem.empty()) return true;
  clear_openssl_errors();
  const BioHandle text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  PemBlock block;
  while (text && block.read(*text)) {
    if (!add(block, bundle, error)) return false;
  }
  const bool is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = take_openssl_error();
  if (!is_at_end) error = "this is not PEM: " + reason;
  return is_at_end;
}

bool check_bundle(const TlsBundle& bundle, bool needs_key, std::string& error) {
  error.clear();
  clear_openssl_errors();
  if (bundle.authorities.empty()) {
    error = "there is no CA certificate that is signed by itself: add the one of the cluster";
  } else if (bundle.certificate && !bundle.key) {
    error = "there is a certificate and no private key: add the key that belongs to it";
  } else if (bundle.key && !bundle.certificate) {
    error = "there is a private key and no certificate: add the certificate that belongs to it";
  } else if (needs_key && !bundle.key) {
    error = "there is no private key, and no certificate: add both";
  } else if (bundle.key && X509_check_private_key(bundle.certificate.get(), bundle.key.get()) != 1) {
    error = "the private key does not belong to the certificate: one of the two is of another bundle";
  }
  for (const RevocationListHandle& list : bundle.revocation_lists) {
    if (error.empty() && is_forged(*list, bundle)) {
      error = "a revocation list is not signed by the CA that it names: have that CA make it again";
    }
  }
  clear_openssl_errors();
  return error.empty();
}

}  // namespace spindle
