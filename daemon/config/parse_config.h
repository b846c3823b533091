// Reads a configuration file (TOML). Nothing is guessed: an unknown key is an error like any other.
#pragma once

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

/// `file` is only named in errors.
ConfigResult parse_config(std::string_view text, std::string_view file);
ConfigResult load_config(const std::string& file);

}  // namespace spindled
