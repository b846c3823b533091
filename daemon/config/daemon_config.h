// Everything that a configuration file can say. The values here are the defaults: a daemon without a configuration file
// runs with them, alone in its cluster. `schema.h` lists the keys, docs/configuration.md explains them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/base/node_config.h"
#include "libclient/common/defaults.h"

namespace spindled {

inline constexpr std::string_view kAutoSocket = "auto";

/// Addresses are "host:port" with an IP address as the host, IPv6 in brackets; port 0 takes any free port.
struct ListenConfig {
  /// TCP, for clients: "tls:host:port" where connections are to be protected (`ListenAddress`). Only this host by
  /// default.
  std::vector<std::string> clients = {"127.0.0.1:" + std::to_string(spindle::kDefaultPort)};
  /// Unix sockets; an empty path is none, `kAutoSocket` where programs of this host look for them.
  std::string client_socket{kAutoSocket};
  std::string admin_socket{kAutoSocket};
  /// TCP, for operators with certificates: "tls:host:port".
  std::vector<std::string> admin;
  /// TCP, for other daemons. Read it through `link_addresses`, which knows what holds where the file does not say.
  std::optional<std::vector<std::string>> links;
};

/// What protects connections beyond this host. `find_exposed` (exposure.h) says which are left without protection.
struct TlsConfig {
  /// Path of the PEM file with this daemon's key, its certificate and its CA, as `spmonitor pki issue` writes it.
  /// Empty: none, and neither links nor clients are protected.
  std::string bundle;
  /// Path of a PEM file with the lists of certificates that were revoked; empty: none.
  std::string revocation_lists;
  /// Unprotected connections beyond this host are allowed.
  bool insecure = false;
};

/// A token by which clients prove that they are "token:NAME". Several may have one name.
struct TokenConfig {
  std::string name;
  std::string sha256;                          // of its text, as 64 hexadecimal digits
  std::optional<std::chrono::sys_days> until;  // the last day on which it counts, by UTC; nothing: for ever

  bool operator==(const TokenConfig&) const = default;
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
  TlsConfig tls;
  std::vector<TokenConfig> tokens;
  LogConfig log;
};

/// Where the daemon listens for others. Where the file does not say: nowhere without a neighbour; with one at port 4804
/// of every interface if that is protected or allowed not to be, and of this host alone if not.
std::vector<std::string> link_addresses(const DaemonConfig& config);

/// The name of a daemon on a host called `host_name`: what a daemon's name may not contain becomes '-'.
std::string default_daemon_name(std::string_view host_name);

/// "debug", "info", "warning" or "error".
std::optional<LogLevel> parse_log_level(std::string_view text);
std::string_view to_string(LogLevel level);

}  // namespace spindled
