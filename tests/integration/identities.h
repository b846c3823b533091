// Certificates for the daemons of a test, as files.
#pragma once

#include <string>
#include <string_view>

#include "tests/integration/daemon.h"
#include "tests/support/tls_certificates.h"

namespace spindle::test {

/// A CA of the cluster "spindle", and what it has issued.
class Identities {
 public:
  TestAuthority& authority() { return authority_; }
  /// A file with the certificate of `holder`, such as "daemon/alpha", its key and the CA's certificate; its path.
  std::string bundle(const std::string& holder) { return bundle(contents(holder), authority_); }
  std::string bundle(const CertificateContents& contents, const TestAuthority& authority);
  /// Of the certificate in the bundle that was made last.
  const std::string& last_serial() const { return last_serial_; }
  /// A file of the CA's certificate alone.
  std::string authority_file();
  std::string file(const std::string& name, std::string_view text);
  /// Of a certificate that is valid now.
  static CertificateContents contents(const std::string& holder, const std::string& cluster = "spindle");

  static WallTime tomorrow();

  /// For a daemon of this name.
  DaemonOptions daemon(const std::string& name, const std::string& more = {});

 private:
  TemporaryDirectory folder_;
  TestAuthority authority_;
  std::string last_serial_;
  int files_ = 0;
};

}  // namespace spindle::test
