#include "libclient/tls/certificate_record.h"

#include <array>
#include <ctime>

#include "libclient/common/bytes.h"

namespace spindle {

namespace {

WallTime expiry_of(const X509& certificate) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &broken_down) != 1) return {};
  return WallTime(std::chrono::seconds(::timegm(&broken_down)));
}

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

std::optional<CertificateName> read_certificate_name(const X509& certificate) {
  const GeneralNamesHandle names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::optional<CertificateName> result;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(names.get(), i);
    if (entry->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = entry->d.uniformResourceIdentifier;
    std::optional<CertificateName> name = parse_certificate_name(
        as_text({ASN1_STRING_get0_data(uri), static_cast<std::size_t>(ASN1_STRING_length(uri))}));
    if (!name) continue;
    if (result) return std::nullopt;
    result = std::move(name);
  }
  return result;
}

std::optional<CertificateRecord> read_certificate(const X509& certificate) {
  std::optional<CertificateName> name = read_certificate_name(certificate);
  if (!name) return std::nullopt;
  return CertificateRecord{std::move(*name), expiry_of(certificate), encode_name(*X509_get_issuer_name(&certificate)),
                           to_der(X509_get0_serialNumber(&certificate), &i2d_ASN1_INTEGER)};
}

std::string encode_name(const X509_NAME& name) { return to_der(&name, &i2d_X509_NAME); }

std::string to_text(WallTime time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm broken_down{};
  ::gmtime_r(&seconds, &broken_down);
  std::array<char, 40> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &broken_down);
  return {text.data(), size};
}

}  // namespace spindle
