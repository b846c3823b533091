// What is read out of PEM files, and what is not.
#include "libclient/tls/certificate_bundle.h"

#include <gmock/gmock.h>
#include <openssl/pem.h>

#include "tools/spmonitor/pki/authority_file.h"

namespace spindle {
namespace {

using spmonitor::pki::Authority;
using spmonitor::pki::Identity;
using testing::HasSubstr;

const spmonitor::pki::Validity kValidity{spmonitor::pki::Time(std::chrono::days(20'000)),
                                         spmonitor::pki::Time(std::chrono::days(20'365))};
const CertificateName kAlpha{"trading", CertificateName::Kind::daemon, "alpha"};

Authority make_ca() { return spmonitor::pki::make_authority("trading", kValidity).value(); }

Identity make_alpha(const Authority& ca) {
  return spmonitor::pki::make_identity(ca, {kAlpha, {}, {}, kValidity}).value();
}

std::string pem_of(const Identity& identity, const Authority& ca) {
  return spmonitor::pki::to_pem(*identity.key, {identity.certificate.get(), ca.certificate.get()}).value();
}

std::string encrypted(EVP_PKEY& key) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  std::string password = "secret";
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(memory.get(), &key, EVP_aes_128_cbc(), password.data(),
                                          static_cast<int>(password.size()), nullptr, nullptr),
            1);
  return text_of(*memory);
}

/// Why `pem` is no bundle.
std::string why_not(const std::string& pem) {
  std::string error;
  EXPECT_FALSE(parse_bundle(pem, error)) << pem;
  return error;
}

TEST(CertificateBundle, HoldsAKeyItsCertificateAndCas) {
  const Authority ca = make_ca(), other = make_ca();
  const Identity alpha = make_alpha(ca);
  const std::string pem =
      spmonitor::pki::to_pem(*alpha.key, {other.certificate.get(), alpha.certificate.get(), ca.certificate.get()})
          .value();
  std::string error;
  for (const std::string& text : {pem, "Certificate:\n  of alpha\n" + pem + "the end"}) {
    const std::optional<CertificateBundle> bundle = parse_bundle(text, error);
    ASSERT_TRUE(bundle) << error;
    EXPECT_EQ(EVP_PKEY_eq(bundle->key.get(), alpha.key.get()), 1);
    EXPECT_EQ(X509_cmp(bundle->certificate.get(), alpha.certificate.get()), 0);
    ASSERT_EQ(bundle->authorities.size(), 2u);
    EXPECT_EQ(X509_cmp(bundle->authorities[0].get(), other.certificate.get()), 0);
    EXPECT_EQ(X509_cmp(bundle->authorities[1].get(), ca.certificate.get()), 0);
  }
}

TEST(CertificateBundle, IsEmptyWhereThereIsNothingOfTheKind) {
  std::string error;
  for (const std::string_view text :
       {std::string_view(), std::string_view(""), std::string_view("hello\n"),
        std::string_view("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n")}) {
    const std::optional<CertificateBundle> bundle = parse_bundle(text, error);
    ASSERT_TRUE(bundle) << error;
    EXPECT_TRUE(bundle->is_empty());
  }
}

TEST(CertificateBundle, IsNotCutShort) {
  const Authority ca = make_ca();
  const std::string pem = pem_of(make_alpha(ca), ca);
  for (std::size_t at = pem.find("-----END"); at != std::string::npos; at = pem.find("-----END", at + 1)) {
    EXPECT_THAT(why_not(pem.substr(0, at)), HasSubstr("damaged or cut short"));
    EXPECT_THAT(why_not(pem.substr(0, at - 70)), HasSubstr("damaged or cut short"));
  }
}

TEST(CertificateBundle, IsNotDamaged) {
  const Authority ca = make_ca();
  const std::string good = pem_of(make_alpha(ca), ca);
  for (std::size_t at = good.find("-----\nMI"); at != std::string::npos; at = good.find("-----\nMI", at + 1)) {
    std::string pem = good;
    pem[at + 8] = pem[at + 8] == 'A' ? 'B' : 'A';  // another length
    EXPECT_THAT(why_not(pem), HasSubstr("damaged"));
  }
}

TEST(CertificateBundle, HasNoEmptyBlock) {
  for (const std::string kind : {"CERTIFICATE", "PRIVATE KEY", "X509 CRL"}) {
    EXPECT_EQ(why_not("-----BEGIN " + kind + "-----\n-----END " + kind + "-----\n"), "a block is empty");
  }
}

TEST(CertificateBundle, HasOneKeyAndOneHolder) {
  const Authority ca = make_ca();
  const Identity alpha = make_alpha(ca), again = make_alpha(ca);
  EXPECT_THAT(why_not(pem_of(alpha, ca) + pem_of(again, ca)), HasSubstr("two private keys"));
  const std::string two =
      spmonitor::pki::to_pem(*alpha.key, {alpha.certificate.get(), again.certificate.get()}).value();
  EXPECT_THAT(why_not(two), HasSubstr("two certificates"));
}

TEST(CertificateBundle, AsksForNoPassword) { EXPECT_THAT(why_not(encrypted(*make_ca().key)), HasSubstr("encrypted")); }

TEST(CertificateBundle, NamesTheHolder) {
  const Authority ca = make_ca();
  EXPECT_EQ(name_of(*make_alpha(ca).certificate), kAlpha);
  EXPECT_EQ(name_of(*ca.certificate), std::nullopt);
  const Identity hosts = spmonitor::pki::make_identity(ca, {kAlpha, {"a.example.org"}, {"::1"}, kValidity}).value();
  EXPECT_EQ(name_of(*hosts.certificate), kAlpha);
}

TEST(CertificateBundle, NamesNobodyWhereThereAreTwo) {
  const Identity alpha = make_alpha(make_ca());
  const GeneralNamesHandle names(GENERAL_NAMES_new());
  for (const char* uri : {"spindle://trading/daemon/alpha", "https://example.org", "spindle://trading/operator/anna"}) {
    sk_GENERAL_NAME_push(names.get(), a2i_GENERAL_NAME(nullptr, nullptr, nullptr, GEN_URI, uri, 0));
    const unsigned long replace = X509V3_ADD_REPLACE;
    ASSERT_EQ(X509_add1_ext_i2d(alpha.certificate.get(), NID_subject_alt_name, names.get(), 0, replace), 1);
    const bool is_alone = sk_GENERAL_NAME_num(names.get()) < 3;
    EXPECT_EQ(name_of(*alpha.certificate), is_alone ? std::optional(kAlpha) : std::nullopt) << uri;
  }
}

}  // namespace
}  // namespace spindle
