// Everything that a configuration file can say. The values here are the defaults: a daemon without a configuration file
// runs with them, alone in its cluster. `schema.h` lists the keys, docs/configuration.md explains them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/base/node_config.h"
#include "libclient/common/defaults.h"

namespace spindled {

/// Addresses are "host:port" with an IP address as the host, IPv6 in brackets; port 0 takes any free port.
struct ListenConfig {
  /// TCP, for clients. Only this host by default: clients are not authenticated.
  std::vector<std::string> clients = {"127.0.0.1:" + std::to_string(spindle::kDefaultPort)};
  /// Unix sockets; an empty path is none.
  std::string client_socket{spindle::kDefaultSocketPath};
  std::string admin_socket{spindle::kDefaultAdminSocketPath};
  /// TCP, for other daemons. Where the file does not say: every interface, port 4804, if a neighbour is configured;
  /// otherwise nowhere. Read it through `link_addresses`.
  std::optional<std::vector<std::string>> links;
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  std::string file;                    // appended to; empty: standard error
  std::size_t queue_bytes = 1u << 20;  // lines that wait to be written; what comes beyond them is lost
  std::size_t lines_per_minute = 120;  // of one kind; 0: no limit
};

struct DaemonConfig {
  NodeConfig node;  // an empty name stands for the name of the host
  ListenConfig listen;
  LogConfig log;
};

/// Where the daemon listens for others.
std::vector<std::string> link_addresses(const DaemonConfig& config);

/// The name of a daemon on a host called `host_name`: what a daemon's name may not contain becomes '-'.
std::string default_daemon_name(std::string_view host_name);

/// "debug", "info", "warning" or "error".
std::optional<LogLevel> parse_log_level(std::string_view text);
std::string_view to_string(LogLevel level);

}  // namespace spindled
