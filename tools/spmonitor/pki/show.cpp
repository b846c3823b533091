#include "tools/spmonitor/pki/show.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "tools/spmonitor/pki/authority_file.h"
#include "tools/spmonitor/pki/certificate_text.h"
#include "tools/spmonitor/pki/files.h"
#include "tools/spmonitor/pki/issued_log.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

/// The text, as it grows: a paragraph for each thing in the file.
class Page {
 public:
  explicit Page(Time now) : now_(now) {}

  void begin(std::string_view what, const std::string& value) {
    if (!shown_.text.empty()) shown_.text += '\n';
    line(what, value);
  }
  void line(std::string_view what, const std::string& value) {
    shown_.text += fmt::format("{:<12}  {}\n", what, value);
  }
  void problem(const std::string& text) {
    line("problem", text);
    ++shown_.problems;
  }

  void validity(const ASN1_TIME* from, const ASN1_TIME* until) {
    const Time begin = from_asn_time(from), end = from_asn_time(until);
    const auto days = std::chrono::floor<std::chrono::days>(end - now_).count();
    line("not before", show_time(begin));
    line("not after", end <= now_ ? show_time(end) : fmt::format("{}, {} days left", show_time(end), days));
    if (end <= now_) problem("it has expired: issue another");
    if (begin > now_) problem("it is not valid yet: is the clock of this host right?");
  }

  Shown take() { return std::move(shown_); }

 private:
  Time now_;
  Shown shown_;
};

void show_certificate(X509& certificate, Page& page) {
  page.line("subject", show_name(*X509_get_subject_name(&certificate)));
  page.line("issuer", show_name(*X509_get_issuer_name(&certificate)));
  page.line("serial", serial_of(certificate));
  page.validity(X509_get0_notBefore(&certificate), X509_get0_notAfter(&certificate));
  page.line("key", show_key_type(certificate));
  page.line("fingerprint", show_fingerprint(certificate));
}

void show_holder(const CertificateBundle& bundle, Page& page) {
  X509& certificate = *bundle.certificate;
  const std::optional<CertificateName> name = name_of(certificate);
  page.begin("certificate", name ? fmt::format("{} of cluster {}", to_identity(*name), name->cluster) : "of nobody");
  if (name) page.line("uri", to_uri(*name));
  if (const std::string hosts = show_hosts(certificate); !hosts.empty()) page.line("hosts", hosts);
  show_certificate(certificate, page);
  if (!name) page.problem("it does not say who its holder is in a cluster: issue one with `spmonitor pki issue`");
  const auto has_issued = [&](const CertificateHandle& authority) { return is_issued_by(certificate, *authority); };
  if (std::none_of(bundle.authorities.begin(), bundle.authorities.end(), has_issued)) {
    page.problem("the CA that has issued it is not in the file: append that CA's certificate");
  }
}

void show_authority(X509& authority, Page& page) {
  const std::string cluster = cluster_of(authority);
  page.begin("CA", cluster.empty() ? "of no cluster" : "of cluster " + cluster);
  show_certificate(authority, page);
  if (cluster.empty()) page.problem("it names no cluster as its organization: make one with `spmonitor pki init`");
}

void show_key(const CertificateBundle& bundle, const std::string& path, Page& page) {
  X509* const owner = bundle.certificate            ? bundle.certificate.get()
                      : !bundle.authorities.empty() ? bundle.authorities.front().get()
                                                    : nullptr;
  const bool is_of_ca = !bundle.certificate && owner != nullptr;
  page.begin("private key", is_of_ca ? "of the CA: keep the file offline" : "of the certificate: keep the file secret");
  if (owner == nullptr || X509_check_private_key(owner, bundle.key.get()) != 1) {
    ERR_clear_error();
    page.problem("it does not match the certificate: the file was put together from two");
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    page.problem("others than its owner may read the file: chmod 600");
  }
}

/// By serial; empty where the list was copied to a place without the file of those issued.
std::map<std::string, std::string> names_of_issued(const std::string& list_path) {
  std::map<std::string, std::string> names;
  const auto text = read_file(issued_path_of_list(list_path));
  const auto entries = text ? parse_issued(*text) : fail(text.error());
  if (!entries) return names;
  for (const Issued& issued : *entries) names.emplace(issued.serial, to_identity(issued.name));
  return names;
}

void show_revocation_list(X509_CRL& list, const std::map<std::string, std::string>& names, Page& page) {
  page.begin("revoked", fmt::format("by {}", show_name(*X509_CRL_get_issuer(&list))));
  page.validity(X509_CRL_get0_lastUpdate(&list), X509_CRL_get0_nextUpdate(&list));
  const STACK_OF(X509_REVOKED)* const all = X509_CRL_get_REVOKED(&list);
  for (int i = 0; i < sk_X509_REVOKED_num(all); ++i) {
    const X509_REVOKED* const revoked = sk_X509_REVOKED_value(all, i);
    const std::string serial = show_serial(X509_REVOKED_get0_serialNumber(revoked));
    const auto name = names.find(serial);
    page.line("serial",
              fmt::format("{} since {}{}", serial, show_time(from_asn_time(X509_REVOKED_get0_revocationDate(revoked))),
                          name == names.end() ? std::string() : ", " + name->second));
  }
}

}  // namespace

Result<Shown> show(const std::string& path, Time now) {
  const Result<CertificateBundle> bundle = load_bundle(path);
  if (!bundle) return tl::unexpected(bundle.error());
  Page page(now);
  if (bundle->certificate) show_holder(*bundle, page);
  for (const CertificateHandle& authority : bundle->authorities) show_authority(*authority, page);
  if (bundle->key) show_key(*bundle, path, page);
  for (const RevocationListHandle& list : bundle->revocation_lists) {
    show_revocation_list(*list, names_of_issued(path), page);
  }
  return page.take();
}

}  // namespace spmonitor::pki
