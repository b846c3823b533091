#include "tests/support/tls_certificates.h"

#include <openssl/pem.h>

#include "libclient/common/bytes.h"
#include "tools/spmonitor/pki/authority_file.h"
#include "tools/spmonitor/pki/revocation_list.h"

namespace spindle::test {

namespace {

using spmonitor::pki::Authority;

/// An empty `value` leaves the certificate without the extension.
void set_extension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  const int at = X509_get_ext_by_NID(&certificate, kind, -1);
  if (at >= 0) const ExtensionHandle removed(X509_delete_ext(&certificate, at));
  if (value.empty()) return;
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionHandle made(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  X509_add_ext(&certificate, made.get(), -1);
}

void set_name(X509& certificate, const std::string& name) {
  const std::unique_ptr<X509_NAME, OpensslDeleter<X509_NAME_free>> made(X509_NAME_new());
  X509_NAME_add_entry_by_NID(made.get(), NID_commonName, MBSTRING_UTF8, as_bytes(name).data(),
                             static_cast<int>(name.size()), -1, 0);
  X509_set_subject_name(&certificate, made.get());
}

void sign(X509& certificate, const Authority& issuer) {
  X509_set_issuer_name(&certificate, X509_get_subject_name(issuer.certificate.get()));
  X509_sign(&certificate, issuer.key.get(), EVP_sha256());
}

std::string to_pem(X509& certificate) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(memory.get(), &certificate);
  return text_of(*memory);
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name, const TestAuthority* above, bool is_bare)
    : authority_(spmonitor::pki::make_authority("trading", {kToday - kDay, kToday + std::chrono::days(3652)}).value()) {
  X509& certificate = *authority_.certificate;
  const Authority& issuer = above == nullptr ? authority_ : above->authority_;
  set_name(certificate, name);
  set_extension(certificate, *issuer.certificate, NID_basic_constraints, "critical,CA:TRUE");
  set_extension(certificate, *issuer.certificate, NID_authority_key_identifier, "keyid:always");
  sign(certificate, issuer);
  const CertificateHandle shown(X509_dup(&certificate));
  if (is_bare) {
    set_extension(*shown, *shown, NID_subject_key_identifier, "");
    sign(*shown, issuer);
  }
  pem_ = to_pem(*shown);
}

TestCertificate TestAuthority::issue(const CertificateContents& contents) const {
  const CertificateName name{"trading", CertificateName::Kind::daemon, "holder"};
  const spmonitor::pki::Identity made =
      spmonitor::pki::make_identity(authority_, {name, {}, {}, {contents.from, contents.until}}).value();
  X509& certificate = *made.certificate;
  const std::string uri = contents.uri.empty() ? std::string() : "URI:" + contents.uri;
  set_extension(certificate, *authority_.certificate, NID_subject_alt_name, uri);
  set_extension(certificate, *authority_.certificate, NID_ext_key_usage, contents.usage);
  sign(certificate, authority_);
  return {spmonitor::pki::to_pem(*made.key, {}).value(), to_pem(certificate), spmonitor::pki::serial_of(certificate)};
}

std::string TestAuthority::revoke(const std::vector<std::string>& serials, WallTime until) const {
  return spmonitor::pki::make_revocation_list(authority_, nullptr, serials, {kToday - kDay, until})
      .and_then([](const RevocationListHandle& list) { return spmonitor::pki::to_pem(*list); })
      .value();
}

std::string make_bundle(const TestAuthority& authority, const TestCertificate& issued) {
  return issued.key + issued.certificate + authority.certificate();
}

std::string make_bundle(const TestAuthority& authority, const CertificateContents& contents) {
  return make_bundle(authority, authority.issue(contents));
}

}  // namespace spindle::test
