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

/// Where clients are awaited: an IP address and a port.
struct ListenAddress {
  Address address;
  bool tls = false;  // connections are protected

  bool operator==(const ListenAddress&) const = default;
};

/// "127.0.0.1:4803", or "tls:127.0.0.1:4803" with protection; nothing for anything else.
std::optional<ListenAddress> parse_listen_address(std::string_view text);
std::string to_string(const ListenAddress& listen);

bool is_ip_address(const std::string& host);
/// Whether only this host can be reached by `host`, an IP address: 127.0.0.0/8 or ::1.
bool is_loopback(const std::string& host);
/// Whether `host` could be a name in the DNS or in /etc/hosts.
bool is_host_name(std::string_view host);

}  // namespace spindled
