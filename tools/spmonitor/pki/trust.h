// A file of CA certificates alone, for whoever only checks the certificates of others.
#pragma once

#include <string>

#include "tools/spmonitor/result.h"

namespace spmonitor::pki {

struct TrustOptions {
  std::string path;    // of any file with CA certificates
  std::string output;  // empty: CLUSTER.crt
  bool force = false;  // replaces such a file that is there
};
/// Returns a line, as `issue` does.
Result<std::string> trust(const TrustOptions& options);

}  // namespace spmonitor::pki
