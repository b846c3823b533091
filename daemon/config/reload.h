// What becomes of a configuration that was changed while the daemon runs.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/daemon_config.h"

namespace spindled {

struct Reload {
  DaemonConfig config;                     // what runs from now on
  std::vector<std::string> changed;        // "session.queue_soft_bytes = 4194304", of live keys
  std::vector<std::string> needs_restart;  // keys that differ and are not live
};

/// `running` with the live keys (`is_live`) of `next`.
Reload reload(DaemonConfig running, DaemonConfig next);

}  // namespace spindled
