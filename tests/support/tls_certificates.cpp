#include "tests/support/tls_certificates.h"

#include <openssl/ec.h>
#include <openssl/pem.h>

#include "libclient/common/bytes.h"

namespace spindle::test {

namespace {

template <typename Write>
std::string to_pem(Write write) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  write(memory.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string to_pem(X509* certificate) {
  return to_pem([&](BIO* memory) { PEM_write_bio_X509(memory, certificate); });
}

KeyHandle make_key() { return KeyHandle(EVP_EC_gen("P-256")); }

void set_time(ASN1_TIME* time, WallTime value) { ASN1_TIME_set(time, value.time_since_epoch().count()); }

using ExtensionHandle = std::unique_ptr<X509_EXTENSION, OpensslDeleter<&X509_EXTENSION_free>>;

ExtensionHandle make_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  return ExtensionHandle(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_add_ext(certificate, make_extension(certificate, nullptr, kind, value).get(), -1);
}

/// Which key the issuer signs with. Empty for a bare one.
ExtensionHandle refer_to_key(X509* issuer) {
  if (X509_get0_subject_key_id(issuer) == nullptr) return nullptr;
  return make_extension(nullptr, issuer, NID_authority_key_identifier, "keyid:always");
}

CertificateHandle make_certificate(const std::string& name, std::uint64_t serial, EVP_PKEY* key,
                                   const CertificateContents& contents) {
  CertificateHandle made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial);
  set_time(X509_getm_notBefore(made.get()), contents.from);
  set_time(X509_getm_notAfter(made.get()), contents.until);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, as_bytes(name).data(),
                             static_cast<int>(name.size()), -1, 0);
  X509_set_pubkey(made.get(), key);
  if (!contents.uri.empty()) add_extension(made.get(), NID_subject_alt_name, "URI:" + contents.uri);
  if (!contents.usage.empty()) add_extension(made.get(), NID_ext_key_usage, contents.usage);
  return made;
}

void sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  if (const ExtensionHandle extension = refer_to_key(issuer)) X509_add_ext(certificate, extension.get(), -1);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  X509_sign(certificate, key, EVP_sha256());
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name, const TestAuthority* above, bool is_bare) : key_(make_key()) {
  const CertificateContents contents{.uri = {}, .usage = {}, .until = kToday + 10 * 365 * kDay};
  certificate_ = make_certificate(name, 1, key_.get(), contents);
  add_extension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate_.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  if (!is_bare) add_extension(certificate_.get(), NID_subject_key_identifier, "hash");
  const TestAuthority& issuer = above == nullptr ? *this : *above;
  sign(certificate_.get(), issuer.certificate_.get(), issuer.key_.get());
  pem_ = to_pem(certificate_.get());
}

TestCertificate TestAuthority::issue(const CertificateContents& contents) {
  const KeyHandle key = make_key();
  TestCertificate made;
  made.serial = ++last_serial_;
  const CertificateHandle certificate =
      make_certificate("holder " + std::to_string(made.serial), made.serial, key.get(), contents);
  sign(certificate.get(), certificate_.get(), key_.get());
  made.key = to_pem(
      [&](BIO* memory) { PEM_write_bio_PKCS8PrivateKey(memory, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  made.certificate = to_pem(certificate.get());
  return made;
}

std::string TestAuthority::revoke(const std::vector<std::uint64_t>& serials, WallTime until) const {
  const RevocationListHandle list(X509_CRL_new());
  X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get()));
  ASN1_TIME* time = ASN1_TIME_new();
  set_time(time, kToday - kDay);
  X509_CRL_set1_lastUpdate(list.get(), time);
  for (const std::uint64_t serial : serials) {
    X509_REVOKED* entry = X509_REVOKED_new();
    const IntegerHandle number(ASN1_INTEGER_new());
    ASN1_INTEGER_set_uint64(number.get(), serial);
    X509_REVOKED_set_serialNumber(entry, number.get());
    X509_REVOKED_set_revocationDate(entry, time);
    X509_CRL_add0_revoked(list.get(), entry);
  }
  set_time(time, until);
  X509_CRL_set1_nextUpdate(list.get(), time);
  ASN1_TIME_free(time);
  const ExtensionHandle extension = refer_to_key(certificate_.get());
  if (extension) X509_CRL_add_ext(list.get(), extension.get(), -1);
  X509_CRL_sort(list.get());
  X509_CRL_sign(list.get(), key_.get(), EVP_sha256());
  return to_pem([&](BIO* memory) { PEM_write_bio_X509_CRL(memory, list.get()); });
}

std::string make_bundle(TestAuthority& authority, const CertificateContents& contents) {
  const TestCertificate made = authority.issue(contents);
  return made.key + made.certificate + authority.certificate();
}

}  // namespace spindle::test
