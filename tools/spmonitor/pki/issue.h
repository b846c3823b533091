// Making a CA, and issuing certificates of its cluster.
#pragma once

#include <string>
#include <vector>

#include "libclient/tls/certificate_name.h"
#include "tools/spmonitor/pki/times.h"
#include "tools/spmonitor/result.h"

namespace spmonitor::pki {

struct InitOptions {
  std::string cluster;
  std::string output;  // empty: CLUSTER.ca
  int days = 3652;
};
/// Never replaces a file: nobody could issue for the cluster again. Returns what there is to tell, a line.
Result<std::string> init(const InitOptions& options, Time now);

struct IssueOptions {
  std::string authority_path;
  spindle::CertificateName::Kind kind = spindle::CertificateName::Kind::daemon;
  std::string name;
  std::string output;  // empty: NAME.pem
  bool force = false;  // replaces a certificate that is there
  int days = 365;      // or less, as the CA has left
  std::vector<std::string> dns_names;
  std::vector<std::string> addresses;
  std::vector<std::string> trusted_paths;  // files whose CAs the holder is to trust, too
};
/// Returns a line, too.
Result<std::string> issue(const IssueOptions& options, Time now);

}  // namespace spmonitor::pki
