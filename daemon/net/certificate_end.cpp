#include "daemon/net/certificate_end.h"

#include <fmt/format.h>

#include <algorithm>

#include "libclient/tls/certificate_text.h"

namespace spindled {

namespace {

using spindle::CertificateName;
using spindle::WallTime;

constexpr std::chrono::days kThresholds[] = {std::chrono::days(30), std::chrono::days(7), std::chrono::days(1),
                                             std::chrono::days(0)};

/// How many thresholds are behind a certificate that ends at `end`.
std::ptrdiff_t passed(WallTime end, WallTime now) {
  return std::count_if(std::begin(kThresholds), std::end(kThresholds),
                       [&](std::chrono::days left) { return end - now <= left; });
}

std::string show_left(std::chrono::seconds left) {
  const auto days = std::chrono::floor<std::chrono::days>(left).count();
  if (days == 0) return "less than a day left";
  return fmt::format("{} {} left", days, days == 1 ? "day" : "days");
}

CertificateEnd end_of_holder(const X509& certificate) {
  CertificateEnd end{"the certificate", "issue another with `spmonitor pki issue`",
                     spindle::from_asn_time(X509_get0_notAfter(&certificate))};
  if (const std::optional<CertificateName> name = spindle::name_of(certificate)) {
    end.what += " of " + to_identity(*name);
    const std::string whose = name->name == spindle::kAnyDaemon ? "--any-daemon" : name->name;
    end.remedy = fmt::format("issue another with `spmonitor pki issue {}.ca {}`", name->cluster, whose);
  }
  end.remedy += ", and put it in place of this file";
  return end;
}

CertificateEnd end_of_authority(const X509& authority) {
  return {"the CA certificate " + spindle::show_name(*X509_get_subject_name(&authority)),
          "go over to another CA (`spmonitor pki init`, then `spmonitor pki issue --trust`, see docs/security.md), or "
          "issue without this one where it has signed nothing that is still in use",
          spindle::from_asn_time(X509_get0_notAfter(&authority))};
}

}  // namespace

std::vector<CertificateEnd> read_ends(const spindle::CertificateBundle& bundle) {
  std::vector<CertificateEnd> ends;
  if (bundle.certificate) ends.push_back(end_of_holder(*bundle.certificate));
  for (const auto& authority : bundle.authorities) ends.push_back(end_of_authority(*authority));
  return ends;
}

std::vector<std::string> warn_of_ends(const std::vector<CertificateEnd>& ends, std::optional<WallTime> before,
                                      WallTime now) {
  std::vector<std::string> warnings;
  for (const CertificateEnd& end : ends) {
    if (passed(end.time, now) <= (before ? passed(end.time, *before) : 0)) continue;
    const std::string time = spindle::show_time(end.time);
    const std::string when = end.time > now ? fmt::format("ends at {}, {}", time, show_left(end.time - now))
                                            : fmt::format("has ended at {}, and nobody accepts it", time);
    warnings.push_back(fmt::format("{} {}: {}", end.what, when, end.remedy));
  }
  return warnings;
}

}  // namespace spindled
