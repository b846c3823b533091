#include "daemon/config/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace spindled {

namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

constexpr std::string_view kTlsPrefix = "tls:";

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint16_t> port = parse_port(text.substr(colon + 1));
  if (!port) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return std::nullopt;
    host = host.substr(1, host.size() - 2);
    in6_addr ignored;
    if (inet_pton(AF_INET6, std::string(host).c_str(), &ignored) != 1) return std::nullopt;
    return Address{std::string(host), *port};
  }
  if (!is_host_name(host)) return std::nullopt;  // an IPv4 address has the form of a name, too
  // A name that ends in a number is an IPv4 address, or a slip of who meant one.
  const std::string_view last = host.substr(host.rfind('.') + 1);
  const bool is_number = std::all_of(last.begin(), last.end(), [](char byte) { return byte >= '0' && byte <= '9'; });
  if (is_number && !is_ip_address(std::string(host))) return std::nullopt;
  return Address{std::string(host), *port};
}

std::string to_string(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const bool tls = text.starts_with(kTlsPrefix);
  if (tls) text.remove_prefix(kTlsPrefix.size());
  std::optional<Address> address = parse_address(text);
  if (!address || !is_ip_address(address->host)) return std::nullopt;
  return ListenAddress{std::move(*address), tls};
}

std::string to_string(const ListenAddress& listen) {
  return (listen.tls ? std::string(kTlsPrefix) : "") + to_string(listen.address);
}

bool is_ip_address(const std::string& host) {
  in6_addr ignored;
  return inet_pton(AF_INET, host.c_str(), &ignored) == 1 || inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

bool is_loopback(const std::string& host) {
  in_addr four;
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr six;
  return inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool is_host_name(std::string_view host) {
  constexpr std::size_t kHostNameBytesMax = 253;
  if (host.empty() || host.size() > kHostNameBytesMax || host.front() == '-' || host.front() == '.') return false;
  constexpr std::size_t kLabelBytesMax = 63;
  if (host.back() == '.') host.remove_suffix(1);
  for (std::string_view rest = host; !rest.empty();) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    if (label.empty() || label.size() > kLabelBytesMax || label.back() == '-') return false;
    rest.remove_prefix(std::min(label.size() + 1, rest.size()));
  }
  return std::all_of(host.begin(), host.end(), [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '-' || byte == '.' || byte == '_';
  });
}

}  // namespace spindled
