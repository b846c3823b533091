#include "daemon/config/daemon_config.h"

#include <array>

#include "libclient/common/names.h"

namespace spindled {

namespace {
constexpr std::array<std::string_view, 4> kLogLevelNames = {"debug", "info", "warning", "error"};
}  // namespace

std::vector<std::string> link_addresses(const DaemonConfig& config) {
  if (config.listen.links) return *config.listen.links;
  if (config.node.link.neighbours.empty()) return {};
  const bool may_be_reached = !config.tls.bundle.empty() || config.tls.insecure;
  return {(may_be_reached ? "0.0.0.0:" : "127.0.0.1:") + std::to_string(spindle::kDefaultLinkPort)};
}

std::string default_daemon_name(std::string_view host_name) {
  std::string name(host_name.substr(0, spindle::kDaemonNameBytesMax));
  for (char& byte : name) {
    if (byte <= ' ' || byte > '~' || byte == '#') byte = '-';
  }
  return name.empty() ? "daemon" : name;
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (std::size_t i = 0; i < kLogLevelNames.size(); ++i) {
    if (kLogLevelNames[i] == text) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::string_view to_string(LogLevel level) { return kLogLevelNames[static_cast<std::size_t>(level)]; }

}  // namespace spindled
