#include "libclient/common/names.h"

#include <algorithm>

namespace spindle {

namespace {

bool is_name_character(char c) { return c > ' ' && c <= '~' && c != '#'; }

bool is_plain_name(std::string_view name, std::size_t limit) {
  return !name.empty() && name.size() <= limit && std::all_of(name.begin(), name.end(), is_name_character);
}

}  // namespace

bool is_group_name(std::string_view name) {
  return !name.empty() && name.size() <= kGroupNameBytesMax && name.front() != '#';
}

bool is_client_name(std::string_view name) { return is_plain_name(name, kClientNameBytesMax); }

bool is_daemon_name(std::string_view name) { return is_plain_name(name, kDaemonNameBytesMax); }

std::optional<PrivateName> parse_private_name(std::string_view name) {
  if (name.empty() || name.front() != '#') return std::nullopt;
  const std::size_t separator = name.find('#', 1);
  if (separator == std::string_view::npos) return std::nullopt;
  const PrivateName parts{name.substr(1, separator - 1), name.substr(separator + 1)};
  if (!is_client_name(parts.client) || !is_daemon_name(parts.daemon)) return std::nullopt;
  return parts;
}

bool is_destination_name(std::string_view name) { return is_group_name(name) || parse_private_name(name).has_value(); }

std::string make_private_name(std::string_view client, std::string_view daemon) {
  std::string name;
  name.reserve(client.size() + daemon.size() + 2);
  name.append("#").append(client).append("#").append(daemon);
  return name;
}

}  // namespace spindle
