#include "daemon/access/access_rules.h"

#include <algorithm>

namespace spindled {

namespace {

/// So many are looked at in the time that is one unit of a turn's work.
constexpr std::size_t kPatternsPerUnit = 16;

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, text); });
}

}  // namespace

/// Where the rest does not match behind a star, the last star takes one byte more: earlier ones need not be tried
/// again.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in_text = 0;
  std::size_t behind_star = std::string_view::npos, star_ends = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      star_ends = in_text;
    } else if (at < pattern.size() && pattern[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (behind_star != std::string_view::npos) {
      at = behind_star;
      in_text = ++star_ends;
    } else {
      return false;
    }
  }
  return pattern.substr(at).find_first_not_of('*') == std::string_view::npos;
}

std::string_view shown_identity(const Peer& peer) {
  return peer.identities.empty() ? "nobody in particular" : peer.identity();
}

bool is_named(const Peer& peer, const std::vector<std::string>& who) {
  return std::any_of(who.begin(), who.end(), [&](const std::string& pattern) {
    if (pattern == kAnyone) return true;
    return std::any_of(peer.identities.begin(), peer.identities.end(),
                       [&](const std::string& identity) { return matches(pattern, identity); });
  });
}

RightSet rights_of(const AccessConfig& access, const Peer& peer, std::string_view group) {
  if (access.rules.empty()) return RightSet::all();
  for (const AccessRule& rule : access.rules) {
    if (matches_any(rule.groups, group) && is_named(peer, rule.who)) return rule.allow;
  }
  return {};
}

bool may_be_called(const AccessConfig& access, const Peer& peer, std::string_view name) {
  for (const ReservedNames& reserved : access.names) {
    if (matches(reserved.pattern, name)) return is_named(peer, reserved.who);
  }
  return true;
}

bool ClientAccess::may(Right right, std::string_view group) {
  const AccessConfig& access = context_.config.access;
  if (version_ != context_.config_version()) {
    version_ = context_.config_version();
    std::size_t patterns = 0;
    for (const AccessRule& rule : access.rules) patterns += rule.groups.size() + rule.who.size();
    patterns_ = std::max<std::size_t>(patterns, 1);
  }
  looked_at_ += patterns_;
  context_.turn.count_check(looked_at_ / kPatternsPerUnit);
  looked_at_ %= kPatternsPerUnit;
  return rights_of(access, peer_, group).contains(right);
}

AdminRole admin_role_of(const AdminConfig& admin, const Peer& peer) {
  if (is_named(peer, {"uid:0", admin.owner}) || is_named(peer, admin.operators)) return AdminRole::operating;
  return is_named(peer, admin.viewers) ? AdminRole::viewing : AdminRole::none;
}

Error no_administrator(const Peer& peer) {
  return {Errc::access_denied,
          fmt::format("administration is for the daemon's user, root, and whom admin.viewers and admin.operators name: "
                      "not for {}",
                      shown_identity(peer))};
}

void ClientAccess::log_denied(std::string_view what, std::string_view group, std::string_view name) const {
  Log(context_.log_sink, "access")
      .warning("client {} from {}, {}, may not {} {}: no rule in [[access]] allows it", name, peer_.address,
               shown_identity(peer_), what, group);
}

}  // namespace spindled
