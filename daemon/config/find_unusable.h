// What a configuration that is valid names and this host does not have.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/config/parse_config.h"

namespace spindled {

/// Looks at folders, files and addresses, and changes nothing: `spindled --check`. What a name server or a running
/// daemon would say is not asked. `file` is only named in errors.
std::vector<ConfigError> find_unusable(const DaemonConfig& config, std::string_view file);

}  // namespace spindled
