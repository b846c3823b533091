// Users and groups of this host, as rules of access name them.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/config/daemon_config.h"
#include "daemon/config/parse_config.h"

namespace spindled {

struct UnresolvedAccounts {
  std::vector<ConfigError> errors;
  /// One of them may exist: whoever knows the accounts, such as a directory service, did not answer.
  bool may_exist = false;
};

/// Replaces "user:alice" and "group:ops" in the rules by what the kernel tells of a client, "uid:1000" and "gid:27", so
/// that nobody has to be looked up when one connects: that may take long. Those for which that could not be done.
UnresolvedAccounts resolve_accounts(DaemonConfig& config, std::string_view file);

}  // namespace spindled
