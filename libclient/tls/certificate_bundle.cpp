#include "libclient/tls/certificate_bundle.h"

#include <openssl/pem.h>

#include <limits>

#include "libclient/common/printable.h"

namespace spindle {

namespace {

/// One block of a PEM file. What it holds is wiped when it goes: it may be a key.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    OPENSSL_free(name_);
    OPENSSL_free(header_);
    OPENSSL_clear_free(bytes_, static_cast<std::size_t>(size_));
  }

  bool read(BIO& from) { return PEM_read_bio(&from, &name_, &header_, &bytes_, &size_) == 1; }

  std::string_view name() const { return name_; }
  bool is_encrypted() const { return name() == PEM_STRING_PKCS8 || *header_ != '\0'; }
  bool is_key() const { return name().ends_with("PRIVATE KEY"); }

  /// Nothing where the bytes are not, from the first to the last, what `decode` takes.
  template <typename Handle, typename Decode>
  Handle decode(Decode decode) const {
    const unsigned char* end = bytes_;
    Handle object(decode(&end, size_));
    if (end != bytes_ + size_) object.reset();
    return object;
  }

 private:
  char* name_ = nullptr;
  char* header_ = nullptr;
  unsigned char* bytes_ = nullptr;
  long size_ = 0;
};

bool add_key(const Block& block, CertificateBundle& bundle, std::string& error) {
  if (block.is_encrypted()) {
    error = "the private key is encrypted; `openssl pkey -in FILE` decrypts it";
    return false;
  }
  if (bundle.key) {
    error = "there are two private keys, and one is all that a file may hold";
    return false;
  }
  bundle.key = block.decode<KeyHandle>([](const unsigned char** bytes, long size) {
    return d2i_AutoPrivateKey(nullptr, bytes, size);  // all formats
  });
  return bundle.key != nullptr;
}

bool add_certificate(const Block& block, CertificateBundle& bundle, std::string& error) {
  auto certificate = block.decode<CertificateHandle>(
      [](const unsigned char** bytes, long size) { return d2i_X509(nullptr, bytes, size); });
  if (!certificate) return false;
  if (X509_check_ca(certificate.get()) == 1) {
    bundle.authorities.push_back(std::move(certificate));
    return true;
  }
  if (bundle.certificate) {
    error = "there are two certificates that are no CA's, and one is all that a file may hold";
    return false;
  }
  bundle.certificate = std::move(certificate);
  return true;
}

bool add_revocation_list(const Block& block, CertificateBundle& bundle) {
  auto list = block.decode<RevocationListHandle>(
      [](const unsigned char** bytes, long size) { return d2i_X509_CRL(nullptr, bytes, size); });
  if (!list) return false;
  bundle.revocation_lists.push_back(std::move(list));
  return true;
}

bool add(const Block& block, CertificateBundle& bundle, std::string& error) {
  if (block.is_key()) return add_key(block, bundle, error);
  if (block.name() == PEM_STRING_X509) return add_certificate(block, bundle, error);
  if (block.name() == PEM_STRING_X509_CRL) return add_revocation_list(block, bundle);
  return true;
}

}  // namespace

std::optional<CertificateBundle> parse_bundle(std::string_view pem, std::string& error) {
  if (pem.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    error = "the file is too large";
    return std::nullopt;
  }
  if (pem.empty()) return CertificateBundle{};  // of which OpenSSL makes no source where it is nowhere
  ERR_clear_error();
  const BioHandle source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  CertificateBundle bundle;
  while (source) {
    Block block;
    if (!block.read(*source)) {
      // The end of the file, too, is an error: there is no start of another block.
      const unsigned long code = ERR_peek_last_error();
      if (ERR_GET_LIB(code) != ERR_LIB_PEM || ERR_GET_REASON(code) != PEM_R_NO_START_LINE) break;
      ERR_clear_error();
      return bundle;
    }
    error.clear();
    if (!add(block, bundle, error)) {
      if (error.empty()) error = "a block " + printable(block.name()) + " is damaged: " + take_openssl_errors();
      ERR_clear_error();
      return std::nullopt;
    }
  }
  // Of a block without contents OpenSSL says nothing.
  error = ERR_peek_error() == 0 ? "a block is empty" : "a block is damaged or cut short: " + take_openssl_errors();
  return std::nullopt;
}

GeneralNamesHandle alternative_names(const X509& certificate) {
  return GeneralNamesHandle(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
}

std::optional<CertificateName> name_of(const X509& certificate) {
  const GeneralNamesHandle names = alternative_names(certificate);
  std::optional<CertificateName> found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_STRING* const uri = name->d.uniformResourceIdentifier;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                static_cast<std::size_t>(ASN1_STRING_length(uri)));
    std::optional<CertificateName> parsed = parse_certificate_name(text);
    if (parsed && found) return std::nullopt;
    if (parsed) found = std::move(parsed);
  }
  return found;
}

}  // namespace spindle
