// Names of groups, clients and daemons.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spindle {

inline constexpr std::size_t kGroupNameBytesMax = 255;
inline constexpr std::size_t kClientNameBytesMax = 64;
inline constexpr std::size_t kDaemonNameBytesMax = 64;

/// 1 to 255 bytes, not starting with '#'.
bool is_group_name(std::string_view name);
/// 1 to 64 bytes, all printable ASCII other than '#' and space.
bool is_client_name(std::string_view name);
/// A daemon's name keeps the same rule, so that "#client#daemon" parses one way only.
bool is_daemon_name(std::string_view name);

struct PrivateName {
  std::string_view client;
  std::string_view daemon;
};
/// The parts of "#client#daemon", or nothing where `name` is not of that form.
std::optional<PrivateName> parse_private_name(std::string_view name);
/// What a message can be sent to: a group name or a private name.
bool is_destination_name(std::string_view name);
std::string make_private_name(std::string_view client, std::string_view daemon);

}  // namespace spindle
