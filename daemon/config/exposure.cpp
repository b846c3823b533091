#include "daemon/config/exposure.h"

#include <fmt/format.h>

#include "daemon/config/address.h"

namespace spindled {

namespace {

// The ways out.
constexpr std::string_view kBundle = "tls.bundle (or --bundle) to the file that `spmonitor pki issue` makes";
constexpr std::string_view kInsecure = "where everybody on the network is trusted, tls.insecure = true (or --insecure)";

// Texts that cannot be parsed are somebody else's to complain about.

bool is_open_to_others(const ListenAddress& listen) { return !is_loopback(listen.address.host); }

bool takes_unprotected_clients(const std::string& text) {
  const std::optional<ListenAddress> listen = parse_listen_address(text);
  return listen && !listen->tls && is_open_to_others(*listen);
}

bool takes_links_of_others(const std::string& text) {
  const std::optional<ListenAddress> listen = parse_listen_address(text);
  return listen && is_open_to_others(*listen);
}

bool is_on_another_host(const std::string& text) {
  const std::optional<Address> address = parse_address(text);
  return address && address->host != "localhost" && !is_loopback(address->host);
}

}  // namespace

std::vector<Exposure> unprotected(const DaemonConfig& config) {
  std::vector<Exposure> found;
  for (const std::string& address : config.listen.clients) {
    if (!takes_unprotected_clients(address)) continue;
    found.push_back({"listen.clients", address,
                     fmt::format("\"{0}\" takes clients of other hosts without protection: write \"tls:{0}\" and set "
                                 "{1}; or, {2}",
                                 address, kBundle, kInsecure)});
  }
  if (!config.tls.bundle.empty()) return found;
  for (const std::string& address : link_addresses(config)) {
    if (!takes_links_of_others(address)) continue;
    found.push_back({"listen.links", address,
                     fmt::format("\"{}\" takes links of other hosts without protection: set {}; or, {}", address,
                                 kBundle, kInsecure)});
  }
  for (const NeighbourConfig& neighbour : config.node.link.neighbours) {
    if (!is_on_another_host(neighbour.address)) continue;
    found.push_back({"neighbour.address", neighbour.address,
                     fmt::format("\"{}\" is another host, and the link to it has no protection: set {}; or, {}",
                                 neighbour.address, kBundle, kInsecure)});
  }
  return found;
}

std::vector<Exposure> find_exposed(const DaemonConfig& config) {
  return config.tls.insecure ? std::vector<Exposure>() : unprotected(config);
}

std::string list_unprotected(const DaemonConfig& config) {
  std::string list;
  for (const Exposure& each : unprotected(config)) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", each.key, each.address);
  }
  return list;
}

std::string needs_bundle(std::string_view address) {
  return fmt::format("\"{}\" needs a certificate: set {}", address, kBundle);
}

}  // namespace spindled
