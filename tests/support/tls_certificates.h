// Certificates for tests, made while they run.
#pragma once

#include <string>
#include <vector>

#include "tools/spmonitor/pki/certificates.h"

namespace spindle::test {

using namespace std::chrono_literals;

/// For certificates it is this time in tests.
inline constexpr WallTime kToday = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1);
inline constexpr auto kDay = std::chrono::hours(24);

struct CertificateContents {
  std::string uri;                              // empty: none
  std::string usage = "serverAuth,clientAuth";  // empty: none
  WallTime from = kToday - kDay;
  WallTime until = kToday + 30 * kDay;
};

struct TestCertificate {
  std::string key;          // PEM
  std::string certificate;  // PEM
  std::string serial;       // in hexadecimal digits
};

/// Certificates are those that `spmonitor pki` makes but for what a test wants otherwise.
class TestAuthority {
 public:
  /// Signed by `above`, or by itself. Certificates refer to its key, which its own tells the identifier of, unless
  /// `is_bare`.
  explicit TestAuthority(const std::string& name = "CA of tests", const TestAuthority* above = nullptr,
                         bool is_bare = false);

  const std::string& certificate() const { return pem_; }  // PEM
  TestCertificate issue(const CertificateContents& contents) const;
  /// PEM.
  std::string revoke(const std::vector<std::string>& serials, WallTime until = kToday + 30 * kDay) const;

 private:
  spmonitor::pki::Authority authority_;
  std::string pem_;
};

/// All that a bundle has: a key, its certificate, and that of `authority`, who has issued them.
std::string make_bundle(const TestAuthority& authority, const TestCertificate& issued);
/// The same of a new certificate with `contents`.
std::string make_bundle(const TestAuthority& authority, const CertificateContents& contents);

}  // namespace spindle::test
