#include "daemon/config/accounts.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <tl/expected.hpp>

#include "daemon/config/schema.h"

namespace spindled {

namespace {

constexpr std::string_view kUser = "user:";
constexpr std::string_view kGroup = "group:";
/// What an account may take, such as a group with many members.
constexpr std::size_t kAccountBytesMax = 16u << 20;

/// getpwnam(3): some systems say "there is none" so.
bool means_none(int error) { return error == 0 || error == ENOENT || error == ESRCH || error == EPERM; }

/// An entry of the host's, nothing where there is none, or why nobody could say. `look_up` is getpwnam_r or
/// getgrnam_r.
template <typename Entry, typename LookUp>
tl::expected<std::optional<Entry>, int> find_account(LookUp look_up, const char* name) {
  std::string text(4'096, '\0');
  for (;;) {
    Entry entry{};
    Entry* found = nullptr;
    const int error = look_up(name, &entry, text.data(), text.size(), &found);
    if (error == EINTR) continue;
    if (error == ERANGE && text.size() < kAccountBytesMax) {
      text.resize(2 * text.size());
      continue;
    }
    if (found != nullptr) return entry;  // its strings end here: numbers are what is wanted
    if (means_none(error)) return std::nullopt;
    return tl::unexpected(error);
  }
}

tl::expected<std::optional<std::string>, int> by_number(const std::string& identity) {
  if (identity.starts_with(kUser)) {
    const auto user = find_account<passwd>(::getpwnam_r, identity.c_str() + kUser.size());
    if (!user) return tl::unexpected(user.error());
    return *user ? std::optional(fmt::format("uid:{}", (*user)->pw_uid)) : std::nullopt;
  }
  if (identity.starts_with(kGroup)) {
    const auto found = find_account<group>(::getgrnam_r, identity.c_str() + kGroup.size());
    if (!found) return tl::unexpected(found.error());
    return *found ? std::optional(fmt::format("gid:{}", (*found)->gr_gid)) : std::nullopt;
  }
  return identity;
}

}  // namespace

UnresolvedAccounts resolve_accounts(DaemonConfig& config, std::string_view file) {
  UnresolvedAccounts unresolved;
  const auto complain = [&](const std::string& key, std::string text) {
    unresolved.errors.push_back({std::string(file), 0, key, std::move(text)});
  };
  const auto resolve = [&](const std::string& key, std::vector<std::string>& who) {
    for (std::string& identity : who) {
      auto number = by_number(identity);
      if (!number) {
        unresolved.may_exist = true;
        complain(key,
                 fmt::format("{} cannot be looked up: {}", identity, std::generic_category().message(number.error())));
      } else if (!*number) {
        complain(key, fmt::format("this host has no {}", identity));
      } else {
        identity = std::move(**number);
      }
    }
  };
  for (AccessRule& rule : config.node.access.rules) resolve("access.who", rule.who);
  for (ReservedNames& names : config.node.access.names) resolve("names.who", names.who);
  for (QuotaRule& quota : config.node.access.quotas) resolve("quota.who", quota.who);
  resolve("admin.operators", config.node.admin.operators);
  resolve("admin.viewers", config.node.admin.viewers);
  return unresolved;
}

}  // namespace spindled
