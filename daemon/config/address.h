// Network addresses as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spindled {

struct Address {
  std::string host;  // an IP address without brackets, or a host name
  std::uint16_t port = 0;

  bool operator==(const Address&) const = default;
};

/// "host:port" or "[IPv6 address]:port"; nothing for anything else.
std::optional<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

bool is_ip_address(const std::string& host);
/// Whether `host` could be a name in the DNS or in /etc/hosts.
bool is_host_name(std::string_view host);

}  // namespace spindled
