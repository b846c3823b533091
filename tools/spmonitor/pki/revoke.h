// Revoking certificates.
#pragma once

#include <optional>
#include <string>

#include "libclient/tls/certificate_name.h"
#include "tools/spmonitor/pki/times.h"
#include "tools/spmonitor/result.h"

namespace spmonitor::pki {

struct RevokeOptions {
  std::string authority_path;
  /// Of `target`, where that is a name; without it a file that is there, or else the name of a daemon.
  std::optional<spindle::CertificateName::Kind> kind;
  std::string target;
  int days = 3652;  // for which the list counts
};
/// Writes the whole list anew, those included that were revoked before. Returns what there is to tell, in lines.
Result<std::string> revoke(const RevokeOptions& options, Time now);

}  // namespace spmonitor::pki
