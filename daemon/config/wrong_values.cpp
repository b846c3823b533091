#include "daemon/config/wrong_values.h"

#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <string_view>

#include "daemon/config/address.h"
#include "daemon/config/daemon_config.h"
#include "libclient/common/hex.h"
#include "libclient/common/names.h"
#include "libclient/common/token.h"

namespace spindled {

namespace {

/// A unix socket, as addresses of daemons that clients connect to are written.
bool is_socket_path(std::string_view value) { return value.starts_with('/') || value.starts_with("unix:"); }

}  // namespace

std::string wrong_socket_path(const std::string& value) {
  if (value.empty() || value == kAutoSocket) return {};
  if (value.front() != '/') return "must be \"auto\", an absolute path, or empty for none";
  if (value.find('\0') != std::string::npos) return "must not contain a zero byte";
  constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;
  return value.size() > kPathBytesMax ? fmt::format("must not be longer than {} bytes", kPathBytesMax) : "";
}

std::string wrong_file(const std::string& value) {
  return value.find('\0') != std::string::npos ? "must not contain a zero byte" : "";
}

/// A daemon may read it again long after its start, and from wherever it was started.
std::string wrong_absolute_file(const std::string& value) {
  if (!value.empty() && value.front() != '/') return "must be an absolute path, or empty for none";
  return wrong_file(value);
}

std::string wrong_pattern(const std::string& value) {
  return value.empty() || value.size() > spindle::kGroupNameBytesMax
             ? fmt::format("must have 1 to {} bytes", spindle::kGroupNameBytesMax)
             : "";
}

/// A star would make a pattern of the name where rules write it.
std::string wrong_token_name(const std::string& value) {
  if (spindle::is_client_name(value) && value.find('*') == std::string::npos) return {};
  return "must have 1 to 64 printable ASCII characters other than '#', '*' and space";
}

std::string wrong_token_digest(const std::string& value) {
  if (spindle::are_hex_digits(value, 64)) return {};
  if (value.starts_with(spindle::kTokenPrefix)) {
    return "is a token, which nobody but its client is to have: write the SHA-256 that `spmonitor token new` has "
           "printed with it, and have another token made where others can read this file";
  }
  return "must have 64 hexadecimal digits with small letters, as `spmonitor token new` prints them";
}

std::string wrong_name(const std::string& value) {
  if (spindle::is_daemon_name(value)) return {};
  return "must have 1 to 64 printable ASCII characters other than '#' and space";
}

std::string wrong_group_pattern(const std::string& value) {
  const bool is_prefix = value.ends_with('*');
  const std::string name = is_prefix ? value.substr(0, value.size() - 1) : value;
  if (spindle::is_group_name(name) || (is_prefix && name.empty())) return {};
  return "must be the name of a group, or how names begin and a '*'";
}

/// Accounts of this host are looked up when the daemon starts, so they are no patterns.
std::string wrong_identity(const std::string& value) {
  constexpr std::string_view kKinds[] = {"user", "group", "uid", "gid", "cert", "operator", "token"};
  if (value == kAnyone || value == "local") return {};
  const std::size_t colon = value.find(':');
  const std::string kind = value.substr(0, colon);
  if (colon == std::string::npos || std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    return fmt::format(
        "\"{}\" is nobody: write \"anyone\", \"local\", or \"user:\", \"group:\", \"uid:\", \"gid:\", \"cert:\", "
        "\"operator:\" or \"token:\" and a name",
        value);
  }
  if (colon + 1 == value.size()) return fmt::format("\"{}\" lacks a name", value);
  if ((kind == "uid" || kind == "gid") && value.find_first_not_of("0123456789*", colon + 1) != std::string::npos) {
    return fmt::format("\"{}\" is no number: write \"{}:\" for a name", value, kind == "uid" ? "user" : "group");
  }
  if ((kind == "user" || kind == "group") && value.find('*') != std::string::npos) {
    return fmt::format("\"{}\": a {} of this host is named in full", value, kind);
  }
  return {};
}

std::string wrong_client_address(const std::string& value) {
  if (parse_listen_address(value)) return {};
  if (is_socket_path(value)) return fmt::format("\"{}\": a unix socket has its own key, listen.client_socket", value);
  return fmt::format(
      "\"{}\" is not an IP address and a port from 0 to 65535, such as \"127.0.0.1:4803\", \"[::1]:4803\" or, with "
      "TLS, \"tls:0.0.0.0:4803\"",
      value);
}

std::string wrong_admin_address(const std::string& value) {
  const std::optional<ListenAddress> listen = parse_listen_address(value);
  if (is_socket_path(value)) return fmt::format("\"{}\": a unix socket has its own key, listen.admin_socket", value);
  if (!listen) {
    return fmt::format(
        "\"{}\" is not \"tls:\" with an IP address and a port from 0 to 65535, such as \"tls:0.0.0.0:4805\"", value);
  }
  if (listen->tls) return {};
  return fmt::format(
      "write \"tls:{0}\" instead of \"{0}\": administration goes over TCP with TLS only; for this host alone there is "
      "listen.admin_socket",
      value);
}

std::string wrong_link_address(const std::string& value) {
  const std::optional<ListenAddress> listen = parse_listen_address(value);
  if (!listen) {
    return fmt::format(
        "\"{}\" is not an IP address and a port from 0 to 65535, such as \"127.0.0.1:4804\" or \"[::1]:4804\"", value);
  }
  if (!listen->tls) return {};
  return fmt::format("write \"{}\" instead of \"{}\": with tls.bundle every link is protected",
                     to_string(listen->address), value);
}

std::string wrong_bulk_address(const std::string& value) {
  return value.empty() ? std::string() : wrong_neighbour_address(value);
}

std::string wrong_neighbour_address(const std::string& value) {
  const std::optional<Address> address = parse_address(value);
  if (address && address->port != 0) return {};
  return fmt::format("\"{}\" is not a host and a port from 1 to 65535, such as \"alpha.example.org:4804\"", value);
}

}  // namespace spindled
