#include "tools/spmonitor/pki/certificate_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "libclient/tls/certificate_bundle.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

std::string escape(const ASN1_STRING& string) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (!memory) return {};
  ASN1_STRING_print_ex(memory.get(), &string, ASN1_STRFLGS_ESC_CTRL | ASN1_STRFLGS_ESC_MSB);
  return text_of(*memory);
}

/// Four bytes or sixteen (RFC 5280, section 4.2.1.6).
std::string show_address(const ASN1_STRING& bytes) {
  const int family = ASN1_STRING_length(&bytes) == 4 ? AF_INET : AF_INET6;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_address = family == AF_INET || ASN1_STRING_length(&bytes) == 16;
  if (!is_address || ::inet_ntop(family, ASN1_STRING_get0_data(&bytes), text.data(), text.size()) == nullptr)
    return "?";
  return text.data();
}

}  // namespace

std::string show_hosts(const X509& certificate) {
  const GeneralNamesHandle names = alternative_names(certificate);
  std::vector<std::string> hosts;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
    if (name.type == GEN_DNS) hosts.push_back(escape(*name.d.dNSName));
    if (name.type == GEN_IPADD) hosts.push_back(show_address(*name.d.iPAddress));
  }
  return fmt::format("{}", fmt::join(hosts, " "));
}

std::string show_key_type(const X509& certificate) {
  const EVP_PKEY* const key = X509_get0_pubkey(&certificate);
  if (key == nullptr) return "unknown to OpenSSL";
  std::array<char, 64> curve{};
  const char* const type = EVP_PKEY_get0_type_name(key);
  const bool has_curve = EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr) == 1;
  if (!has_curve) ERR_clear_error();
  return fmt::format("{} {}", type == nullptr ? "?" : type,
                     has_curve ? curve.data() : fmt::format("of {} bits", EVP_PKEY_get_bits(key)));
}

std::string show_fingerprint(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return "?";
  return fmt::format("{:02X}", fmt::join(digest.begin(), digest.begin() + size, ":"));
}

}  // namespace spmonitor::pki
