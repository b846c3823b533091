// Certificates for tests, made while they run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libclient/tls/certificate_record.h"

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
  std::uint64_t serial = 0;
};

/// Keys are of P-256.
class TestAuthority {
 public:
  /// Signed by `above`, or by itself. Its key has an identifier, which certificates refer to, unless `is_bare`.
  explicit TestAuthority(const std::string& name = "CA of tests", const TestAuthority* above = nullptr,
                         bool is_bare = false);

  const std::string& certificate() const { return pem_; }  // PEM
  TestCertificate issue(const CertificateContents& contents);
  /// PEM.
  std::string revoke(const std::vector<std::uint64_t>& serials, WallTime until = kToday + 30 * kDay) const;

 private:
  KeyHandle key_;
  CertificateHandle certificate_;
  std::string pem_;
  std::uint64_t last_serial_ = 0x8000;
};

/// All that a bundle has: of `uri` with both usages, and the certificate of `authority`.
std::string make_bundle(TestAuthority& authority, const CertificateContents& contents);

}  // namespace spindle::test
