// Reads a configuration file (TOML). Nothing is guessed: an unknown key is an error like any other.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/config/daemon_config.h"

namespace spindled {

/// Larger files are refused unread.
inline constexpr std::size_t kConfigBytesMax = 1u << 20;

struct ConfigError {
  std::string file;
  std::size_t line = 0;  // from 1; 0: the file as a whole
  std::string key;       // "link.heartbeat_interval_ms"; empty for a syntax error
  std::string text;      // what is wrong with it

  bool operator==(const ConfigError&) const = default;
};

/// "spindle.toml:12: link.heartbeat_interval_ms: must be between 10 and 60000"
std::string to_string(const ConfigError& error);

/// All errors that were found, in the order of their lines; after a syntax error nothing else can be.
using ConfigResult = tl::expected<DaemonConfig, std::vector<ConfigError>>;

/// Changes what a file says: the command line does. The values of both have to go together.
using ConfigOverlay = std::function<void(DaemonConfig&)>;

/// `file` is only named in errors. These are of the file: what `overlay` adds and exposes (exposure.h) is for the
/// caller to find.
ConfigResult parse_config(std::string_view text, std::string_view file, const ConfigOverlay& overlay = {});
ConfigResult load_config(const std::string& file, const ConfigOverlay& overlay = {});

}  // namespace spindled
