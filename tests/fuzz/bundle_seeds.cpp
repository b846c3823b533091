// Seeds for files of keys, certificates and lists of revoked ones. The keys are new each time.
#include <openssl/pem.h>

#include "tests/fuzz/bundle_parts.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/tls_certificates.h"

namespace spindle_fuzz {

namespace {

using namespace spindle;
using namespace spindle::test;

constexpr std::uint8_t kLinkAccepts = 0, kLinkDials = kBundleRoleDials, kClientDials = 1 + kBundleRoleDials;

std::string part(BundlePart kind, std::string_view bytes, bool is_of_lists = false) {
  return one_byte(static_cast<unsigned>(kind) + (is_of_lists ? kBundlePartOfLists : 0u)) +
         one_byte(bytes.size() & 0xff) + one_byte(static_cast<unsigned>(bytes.size() >> 8)) + std::string(bytes);
}

std::string text(std::string_view words) { return part(BundlePart::text, words); }

BundlePart kind_of(std::string_view label) {
  if (label == PEM_STRING_X509) return BundlePart::certificate;
  if (label == PEM_STRING_X509_CRL) return BundlePart::revocation_list;
  if (label == PEM_STRING_ECPRIVATEKEY) return BundlePart::key_of_curve;
  if (label == PEM_STRING_PKCS8) return BundlePart::encrypted_key;
  return label == PEM_STRING_PKCS8INF ? BundlePart::key : BundlePart::other;
}

/// Each block of a text of PEM as a part of its own.
std::string parts_of(const std::string& pem, bool is_of_lists = false) {
  const BioHandle source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::string parts;
  char *label = nullptr, *header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  while (PEM_read_bio(source.get(), &label, &header, &bytes, &size) == 1) {
    const std::string_view block(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    parts += part(kind_of(label), block, is_of_lists);
    OPENSSL_free(label);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
  }
  ERR_clear_error();
  return parts;
}
std::string lists_of(const std::string& pem) { return parts_of(pem, true); }

/// The same key in another format of PEM.
std::string rewritten(const std::string& pem, bool is_encrypted) {
  const BioHandle source(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const KeyHandle key(PEM_read_bio_PrivateKey(source.get(), nullptr, nullptr, nullptr));
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (is_encrypted) {
    const std::string password = "secret";
    PEM_write_bio_PKCS8PrivateKey(memory.get(), key.get(), EVP_aes_128_cbc(), password.data(),
                                  static_cast<int>(password.size()), nullptr, nullptr);
  } else {
    PEM_write_bio_PrivateKey_traditional(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  return text_of(*memory);
}

}  // namespace

void add_bundle_seeds(Seeds& seeds) {
  const auto add = [&](const std::string& name, std::uint8_t role, const std::string& parts) {
    seeds.push_back({"bundle", name, one_byte(role) + parts});
    seeds.push_back({"bundle", name + "_read", one_byte(kBundleIsRead) + parts});
  };
  const TestAuthority authority, other("another CA"), below("CA below", &authority);
  const TestCertificate alpha = authority.issue({.uri = "spindle://trading/daemon/alpha"});
  const TestCertificate feed = authority.issue({.uri = "spindle://trading/client/fe%40ed", .usage = "clientAuth"});
  const TestCertificate beta = below.issue({.uri = "spindle://trading/daemon/*"});
  const std::string ca = parts_of(authority.certificate());
  const std::string daemon = parts_of(make_bundle(authority, alpha));
  const std::string certificate = parts_of(alpha.certificate);

  add("empty", kLinkAccepts, "");
  add("words", kLinkAccepts, text("no PEM at all\n"));
  add("text_of_pem", kLinkAccepts, text("Certificate:\n" + make_bundle(authority, alpha) + "the end"));
  add("cut_short", kLinkAccepts, text(make_bundle(authority, alpha).substr(0, 900)));
  add("block_of_nothing", kLinkDials, text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n") + daemon);
  add("header", kLinkAccepts,
      text("-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
           "-----END EC PRIVATE KEY-----\n"));
  add("daemon_accepts", kLinkAccepts, daemon);
  add("daemon_dials", kLinkDials, daemon);
  add("client", kClientDials, parts_of(make_bundle(authority, feed)));
  add("client_on_link", kLinkDials, parts_of(make_bundle(authority, feed)));
  add("authorities", kClientDials, ca + parts_of(other.certificate()));
  add("chain", kLinkAccepts, parts_of(make_bundle(below, beta)) + ca);
  add("chain_without_root", kLinkAccepts, parts_of(make_bundle(below, beta)));
  add("without_key", kLinkAccepts, certificate + ca);
  add("without_certificate", kLinkAccepts, parts_of(alpha.key) + ca);
  add("two_keys", kLinkAccepts, parts_of(alpha.key) + daemon);
  add("two_certificates", kLinkAccepts, daemon + parts_of(feed.certificate));
  add("key_of_another", kLinkAccepts, parts_of(feed.key) + certificate + ca);
  add("key_of_curve", kLinkAccepts, parts_of(rewritten(alpha.key, false)) + certificate + ca);
  add("encrypted_key", kLinkAccepts, parts_of(rewritten(alpha.key, true)) + certificate + ca);
  add("other_block", kLinkAccepts, part(BundlePart::other, "\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07") + daemon);
  add("nobody", kLinkAccepts, parts_of(make_bundle(authority, CertificateContents{})));
  add("two_names", kLinkAccepts,
      parts_of(make_bundle(
          authority,
          {.uri = "spindle://trading/daemon/alpha,URI:https://example.org,URI:spindle://trading/client/b"})));
  add("expired", kLinkAccepts,
      parts_of(make_bundle(authority, {.uri = "spindle://trading/daemon/alpha", .until = kToday - kDay / 2})));
  add("lists", kLinkAccepts, daemon + lists_of(authority.revoke({feed.serial}) + other.revoke({alpha.serial})));
  add("list_in_bundle", kLinkDials, daemon + parts_of(authority.revoke({})));
  add("revoked", kLinkAccepts, daemon + lists_of(authority.revoke({alpha.serial, feed.serial})));
  add("overdue_list", kLinkAccepts, daemon + lists_of(authority.revoke({feed.serial}, kToday - kDay / 2)));
  add("forged_list", kLinkAccepts, daemon + lists_of(TestAuthority().revoke({alpha.serial})));
  add("no_list_in_lists", kLinkAccepts, daemon + lists_of(authority.certificate()));
}

}  // namespace spindle_fuzz
