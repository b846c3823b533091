// Where a daemon listens for clients, and where clients look for it, when nothing else is said.
#pragma once

#include <cstdint>
#include <string_view>

namespace spindle {

/// The unix socket for clients, in the folder that libclient/io/default_socket.h finds.
inline constexpr std::string_view kClientSocketName = "spindle.4803";
/// Where tools ask a daemon about its state, in the same folder.
inline constexpr std::string_view kAdminSocketName = "spindle.4803.admin";
inline constexpr std::uint16_t kDefaultPort = 4803;
/// TCP port where daemons listen for each other.
inline constexpr std::uint16_t kDefaultLinkPort = 4804;
/// TCP port where daemons are administered by TLS, where one is said at all.
inline constexpr std::uint16_t kDefaultAdminPort = 4805;
/// The environment variable that replaces the default address in clients.
inline constexpr char kAddressVariable[] = "SPINDLE_ADDRESS";
/// The one that names the file with the certificates of a client.
inline constexpr char kTlsBundleVariable[] = "SPINDLE_TLS_BUNDLE";
/// The one that names a file with lists of revoked certificates.
inline constexpr char kRevocationListsVariable[] = "SPINDLE_REVOCATION_LISTS";
/// The one that holds the token of a client.
inline constexpr char kTokenVariable[] = "SPINDLE_TOKEN";

}  // namespace spindle
