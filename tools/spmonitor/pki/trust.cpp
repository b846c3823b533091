#include "tools/spmonitor/pki/trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/spmonitor/pki/authority_file.h"
#include "tools/spmonitor/pki/files.h"
#include "tools/spmonitor/pki/times.h"

namespace spmonitor::pki {

using namespace spindle;

namespace {

bool holds_authorities_alone(const CertificateBundle& bundle) {
  return !bundle.key && !bundle.certificate && bundle.revocation_lists.empty() && !bundle.authorities.empty();
}

Result<void> check_replaceable(const std::string& path, bool force) {
  if (!exists(path)) return {};
  if (!force) return fail(path + ": is there already; --force replaces it, --output FILE writes another file");
  const Result<CertificateBundle> there = load_bundle(path);
  if (there && holds_authorities_alone(*there)) return {};
  return fail(path + ": holds something else than certificates of CAs, and is not replaced; move it away");
}

/// "trading.crt", or what was asked for.
Result<std::string> output_path(const std::string& asked, const X509& authority) {
  if (!asked.empty()) return asked;
  const std::string cluster = cluster_of(authority);
  if (!cluster.empty() && cluster.find('/') == std::string::npos) return cluster + ".crt";
  return fail("the CA certificate names no cluster that could be the name of a file; give --output FILE");
}

}  // namespace

Result<std::string> trust(const TrustOptions& options) {
  const Result<CertificateBundle> bundle = load_bundle(options.path);
  if (!bundle) return tl::unexpected(bundle.error());
  if (bundle->authorities.empty()) {
    return fail(options.path + ": holds no certificate of a CA; give one that does, such as trading.ca or alpha.pem");
  }
  const Result<std::string> path = output_path(options.output, *bundle->authorities.front());
  if (!path) return tl::unexpected(path.error());
  if (const Result<void> free = check_replaceable(*path, options.force); !free) return tl::unexpected(free.error());
  std::vector<X509*> certificates;
  Time until = Time::max();
  for (const CertificateHandle& authority : bundle->authorities) {
    certificates.push_back(authority.get());
    until = std::min(until, from_asn_time(X509_get0_notAfter(authority.get())));
  }
  const Result<void> written = to_pem(certificates).and_then([&](const std::string& pem) {
    return write_file(*path, pem, Access::open, options.force ? Existing::replace : Existing::keep);
  });
  if (!written) return tl::unexpected(written.error());
  return fmt::format("{}: {} CA certificate{}, until {}. It holds nothing secret\n", *path, certificates.size(),
                     certificates.size() == 1 ? "" : "s", show_time(until));
}

}  // namespace spmonitor::pki
