// What protects the connections of this daemon: its certificate, and whose it accepts.
#pragma once

#include <memory>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/config/daemon_config.h"
#include "daemon/net/certificate_end.h"
#include "libclient/tls/tls_context.h"

namespace spindled {

/// All of these, or none where the configuration names no certificate.
struct Protection {
  std::shared_ptr<const spindle::TlsContext> accepted_link, dialled_link, accepted_client, accepted_admin;
  std::vector<CertificateEnd> ends;  // of the bundle

  explicit operator bool() const { return accepted_link != nullptr; }
};

/// Reads the files that `config.tls` names, for which it is `now`. The error names the file, and what to do; it never
/// holds a part of a key.
Result<Protection> load_protection(const DaemonConfig& config, spindle::WallTime now);

}  // namespace spindled
