#include "tools/spmonitor/pki/authority_file.h"

#include <fmt/format.h>
#include <openssl/pem.h>

#include "tools/spmonitor/pki/files.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

std::string with_ending(std::string path, std::string_view ending, std::string_view other) {
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path.append(other);
}

}  // namespace

std::string issued_path(const std::string& authority_path) { return with_ending(authority_path, ".ca", ".issued"); }

std::string revocation_list_path(const std::string& authority_path) {
  return with_ending(authority_path, ".ca", ".crl");
}

std::string issued_path_of_list(const std::string& list_path) { return with_ending(list_path, ".crl", ".issued"); }

Result<CertificateBundle> load_bundle(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  std::string error;
  std::optional<CertificateBundle> bundle = parse_bundle(*text, error);
  if (!bundle) return fail(path + ": " + error);
  if (bundle->is_empty()) {
    return fail(path + ": holds no key, certificate or list of revoked ones in PEM; give another file");
  }
  return *std::move(bundle);
}

Result<Authority> load_authority(const std::string& path) {
  Result<CertificateBundle> bundle = load_bundle(path);
  if (!bundle) return tl::unexpected(bundle.error());
  constexpr const char* kInstead = "give the file that `spmonitor pki init` has written";
  if (bundle->certificate) {
    const std::optional<CertificateName> name = name_of(*bundle->certificate);
    return fail(
        fmt::format("{}: is not of a CA but of {}; {}", path, name ? to_identity(*name) : "somebody else", kInstead));
  }
  if (!bundle->key || bundle->authorities.size() != 1) {
    return fail(fmt::format("{}: does not hold the key and the certificate of a CA; {}", path, kInstead));
  }
  CertificateHandle certificate = std::move(bundle->authorities.front());
  if (X509_check_private_key(certificate.get(), bundle->key.get()) != 1) {
    ERR_clear_error();
    return fail(fmt::format("{}: the key is not that of the certificate; {}", path, kInstead));
  }
  std::string cluster = cluster_of(*certificate);
  if (cluster.empty()) {
    return fail(fmt::format("{}: the certificate names no cluster as its organization; {}", path, kInstead));
  }
  return Authority{std::move(bundle->key), std::move(certificate), std::move(cluster)};
}

Result<std::string> to_pem(EVP_PKEY& key, const std::vector<X509*>& certificates) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_PrivateKey(memory.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return fail(openssl_failure("write PEM"));
  }
  return to_pem(certificates).map([&](const std::string& pem) { return text_of(*memory) + pem; });
}

Result<std::string> to_pem(const std::vector<X509*>& certificates) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  bool is_done = memory != nullptr;
  for (X509* const certificate : certificates) is_done = is_done && PEM_write_bio_X509(memory.get(), certificate) == 1;
  if (!is_done) return fail(openssl_failure("write PEM"));
  return text_of(*memory);
}

Result<std::string> to_pem(X509_CRL& list) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_X509_CRL(memory.get(), &list) != 1) return fail(openssl_failure("write PEM"));
  return text_of(*memory);
}

}  // namespace spmonitor::pki
