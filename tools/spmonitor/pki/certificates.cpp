#include "tools/spmonitor/pki/certificates.h"

#include <openssl/ec.h>

#include "libclient/common/names.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

constexpr const char* kCurve = "P-256";
constexpr int kSerialBits = 128;
constexpr long kVersion3 = 2;  // as X.509 counts
constexpr std::size_t kSerialDigitsInName = 8;

bool add_text_extension(X509& certificate, X509& issuer, int kind, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool add_key_identifiers(X509& certificate, X509& issuer) {
  // The own one first: a CA's certificate is its own issuer.
  return add_text_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
         add_text_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
}

bool set_serial(X509& certificate) {
  // The topmost bit is set, so all have the same number of digits and none is zero.
  const NumberHandle number(BN_new());
  return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_validity(X509& certificate, const Validity& validity) {
  const AsnTimeHandle from = to_asn_time(validity.from), until = to_asn_time(validity.until);
  return from && until && X509_set1_notBefore(&certificate, from.get()) == 1 &&
         X509_set1_notAfter(&certificate, until.get()) == 1;
}

bool add_name_part(X509_NAME& name, int kind, const std::string& text) {
  return X509_NAME_add_entry_by_NID(&name, kind, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_subject(X509& certificate, const std::string& cluster, const std::string& common_name) {
  X509_NAME* const subject = X509_get_subject_name(&certificate);
  return add_name_part(*subject, NID_organizationName, cluster) && add_name_part(*subject, NID_commonName, common_name);
}

bool add_alternative_name(GENERAL_NAMES& names, int kind, const std::string& text) {
  GeneralNameHandle name(a2i_GENERAL_NAME(nullptr, nullptr, nullptr, kind, text.c_str(), 0));
  if (!name || sk_GENERAL_NAME_push(&names, name.get()) <= 0) return false;
  static_cast<void>(name.release());  // it is the list's now
  return true;
}

/// Of names that OpenSSL takes for no such, only addresses may come from outside: those of hosts are checked before.
Result<void> add_alternative_names(X509& certificate, const IdentityRequest& request) {
  const GeneralNamesHandle names(GENERAL_NAMES_new());
  if (!names) return fail(openssl_failure("make a list of names"));
  bool is_done = add_alternative_name(*names, GEN_URI, to_uri(request.name));
  for (const std::string& host : request.dns_names) is_done = is_done && add_alternative_name(*names, GEN_DNS, host);
  for (const std::string& address : request.addresses) {
    if (is_done && !add_alternative_name(*names, GEN_IPADD, address)) {
      ERR_clear_error();
      return fail(address + " is no IP address; give one such as 192.0.2.1 or 2001:db8::1");
    }
  }
  if (!is_done || X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) != 1) {
    return fail(openssl_failure("make a list of names"));
  }
  return {};
}

bool is_host_name(const std::string& name) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*";
  return !name.empty() && name.size() <= 253 && name.find_first_not_of(kCharacters) == std::string::npos;
}

/// All that certificates have in common but their subject; not yet signed.
Result<Identity> begin_certificate(const Validity& validity) {
  Identity made{KeyHandle(EVP_EC_gen(kCurve)), CertificateHandle(X509_new())};
  if (!made.key || !made.certificate) return fail(openssl_failure("make a key"));
  X509& certificate = *made.certificate;
  if (X509_set_version(&certificate, kVersion3) != 1 || !set_serial(certificate) ||
      !set_validity(certificate, validity) || X509_set_pubkey(&certificate, made.key.get()) != 1) {
    return fail(openssl_failure("make a certificate"));
  }
  return made;
}

bool sign(X509& certificate, EVP_PKEY& key) { return X509_sign(&certificate, &key, EVP_sha256()) > 0; }

}  // namespace

Failure openssl_failure(std::string_view what) {
  return "OpenSSL cannot " + std::string(what) + ": " + take_openssl_errors();
}

Result<Authority> make_authority(const std::string& cluster, const Validity& validity) {
  Result<Identity> made = begin_certificate(validity);
  if (!made) return tl::unexpected(made.error());
  X509& certificate = *made->certificate;
  // Each CA of a cluster has a name of its own, so that certificates and lists tell theirs from others.
  const std::string name = "CA " + serial_of(certificate).substr(0, kSerialDigitsInName);
  const bool is_done =
      set_subject(certificate, cluster, name) &&
      X509_set_issuer_name(&certificate, X509_get_subject_name(&certificate)) == 1 &&
      add_text_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      add_text_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      add_key_identifiers(certificate, certificate) && sign(certificate, *made->key);
  if (!is_done) return fail(openssl_failure("make the certificate of a CA"));
  return Authority{std::move(made->key), std::move(made->certificate), cluster};
}

Result<Identity> make_identity(const Authority& authority, const IdentityRequest& request) {
  for (const std::string& host : request.dns_names) {
    if (!is_host_name(host)) return fail(host + " is no host name; give one such as alpha.example.org");
  }
  Result<Identity> made = begin_certificate(request.validity);
  if (!made) return made;
  X509& certificate = *made->certificate;
  const bool is_daemon = request.name.kind == CertificateName::Kind::daemon;
  // Links are mutual: a daemon is a client to the daemons that it dials.
  const char* const purposes = is_daemon ? "serverAuth,clientAuth" : "clientAuth";
  const bool is_begun =
      set_subject(certificate, request.name.cluster, request.name.name) &&
      X509_set_issuer_name(&certificate, X509_get_subject_name(authority.certificate.get())) == 1 &&
      add_text_extension(certificate, *authority.certificate, NID_basic_constraints, "critical,CA:FALSE") &&
      add_text_extension(certificate, *authority.certificate, NID_key_usage, "critical,digitalSignature") &&
      add_text_extension(certificate, *authority.certificate, NID_ext_key_usage, purposes) &&
      add_key_identifiers(certificate, *authority.certificate);
  if (!is_begun) return fail(openssl_failure("make a certificate"));
  if (const Result<void> named = add_alternative_names(certificate, request); !named) {
    return tl::unexpected(named.error());
  }
  if (!sign(certificate, *authority.key)) return fail(openssl_failure("make a signature"));
  return made;
}

std::string serial_of(const X509& certificate) { return show_serial(X509_get0_serialNumber(&certificate)); }

std::string cluster_of(const X509& authority) {
  const X509_NAME* const subject = X509_get_subject_name(&authority);
  const int at = X509_NAME_get_index_by_NID(subject, NID_organizationName, -1);
  if (at < 0) return {};
  const ASN1_STRING* const text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  std::string cluster(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                      static_cast<std::size_t>(ASN1_STRING_length(text)));
  return is_daemon_name(cluster) ? cluster : std::string();
}

bool is_issued_by(X509& certificate, const X509& authority) {
  const bool is = X509_verify(&certificate, X509_get0_pubkey(&authority)) == 1;
  if (!is) ERR_clear_error();
  return is;
}

}  // namespace spmonitor::pki
