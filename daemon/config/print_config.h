// A configuration as the text of a configuration file.
#pragma once

#include <string>

#include "daemon/config/daemon_config.h"

namespace spindled {

/// Every key with its value, in the order of docs/configuration.md. `parse_config` reads it back.
std::string print_config(DaemonConfig config);

}  // namespace spindled
