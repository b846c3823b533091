#include "libclient/tls/certificate_record.h"

#include "libclient/common/bytes.h"
#include "libclient/tls/certificate_bundle.h"

namespace spindle {

namespace {

/// `encode` is one of the i2d_ functions, which allocate what they write.
template <typename Object>
std::string to_der(const Object* object, int (*encode)(const Object*, unsigned char**)) {
  unsigned char* encoded = nullptr;
  const int size = encode(object, &encoded);
  if (size < 0) return {};
  std::string result(as_text({encoded, static_cast<std::size_t>(size)}));
  OPENSSL_free(encoded);
  return result;
}

}  // namespace

std::optional<CertificateRecord> read_certificate(const X509& certificate) {
  std::optional<CertificateName> name = name_of(certificate);
  if (!name) return std::nullopt;
  return CertificateRecord{std::move(*name), from_asn_time(X509_get0_notAfter(&certificate)),
                           encode_name(*X509_get_issuer_name(&certificate)),
                           to_der(X509_get0_serialNumber(&certificate), &i2d_ASN1_INTEGER)};
}

std::string encode_name(const X509_NAME& name) { return to_der(&name, &i2d_X509_NAME); }

}  // namespace spindle
