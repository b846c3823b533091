#include "daemon/config/accounts.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <optional>

#include "daemon/config/schema.h"

namespace spindled {

namespace {

constexpr std::string_view kUser = "user:";
constexpr std::string_view kGroup = "group:";

/// Nothing where this host does not know it.
std::optional<std::string> by_number(const std::string& identity) {
  if (identity.starts_with(kUser)) {
    const passwd* const user = ::getpwnam(identity.c_str() + kUser.size());
    return user == nullptr ? std::nullopt : std::optional(fmt::format("uid:{}", user->pw_uid));
  }
  if (identity.starts_with(kGroup)) {
    const group* const found = ::getgrnam(identity.c_str() + kGroup.size());
    return found == nullptr ? std::nullopt : std::optional(fmt::format("gid:{}", found->gr_gid));
  }
  return identity;
}

}  // namespace

std::vector<ConfigError> resolve_accounts(DaemonConfig& config, std::string_view file) {
  std::vector<ConfigError> errors;
  const auto resolve = [&](const std::string& key, std::vector<std::string>& who) {
    for (std::string& identity : who) {
      if (std::optional<std::string> number = by_number(identity)) {
        identity = std::move(*number);
      } else {
        errors.push_back({std::string(file), 0, key, fmt::format("this host has no {}", identity)});
      }
    }
  };
  for (AccessRule& rule : config.node.access.rules) resolve("access.who", rule.who);
  for (ReservedNames& names : config.node.access.names) resolve("names.who", names.who);
  for (QuotaRule& quota : config.node.access.quotas) resolve("quota.who", quota.who);
  resolve("admin.operators", config.node.admin.operators);
  resolve("admin.viewers", config.node.admin.viewers);
  return errors;
}

}  // namespace spindled
