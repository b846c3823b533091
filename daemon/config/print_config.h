// A configuration as the text of a configuration file.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/config/daemon_config.h"

namespace spindled {

/// Every key with its value, in the order of docs/configuration.md. `parse_config` reads it back.
std::string print_config(DaemonConfig config);

/// AccessConfig::digest of what is written there: the same for the same sections in the same order.
std::uint64_t rules_digest(const AccessConfig& access);

}  // namespace spindled
