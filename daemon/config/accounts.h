// Users and groups of this host, as rules of access name them.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/config/daemon_config.h"
#include "daemon/config/parse_config.h"

namespace spindled {

/// Replaces "user:alice" and "group:ops" in the rules by what the kernel tells of a client, "uid:1000" and "gid:27", so
/// that nobody has to be looked up when one connects: that may take long. What this host does not know.
std::vector<ConfigError> resolve_accounts(DaemonConfig& config, std::string_view file);

}  // namespace spindled
