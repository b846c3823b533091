// What clients may do, by the rules of the configuration.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/node_config.h"
#include "daemon/base/peer.h"
#include "daemon/base/result.h"

namespace spindled {

/// Whether `text` is what `pattern` says, where each `*` stands for any bytes, or none.
bool matches(std::string_view pattern, std::string_view text);

/// For people to read: "uid:1000", or "nobody in particular".
std::string_view shown_identity(const Peer& peer);

/// Whether one of `who` names the peer: one of its identities, or "anyone", which everybody is.
bool is_named(const Peer& peer, const std::vector<std::string>& who);

/// What the peer may do with a group, or, for a private name, "#name#daemon", with that client. The first rule decides
/// that names both of them; where there are rules and none does, nothing is allowed, and without rules all is.
RightSet rights_of(const AccessConfig& access, const Peer& peer, std::string_view group);

/// Whether the peer may choose `name`: no reservation is for it, or one that names the peer.
bool may_be_called(const AccessConfig& access, const Peer& peer, std::string_view name);

/// What one may do on an administration connection.
enum class AdminRole : std::uint8_t { none, viewing, operating };
AdminRole admin_role_of(const AdminConfig& admin, const Peer& peer);
/// What one without a role is told.
Error no_administrator(const Peer& peer);

/// The same for one client, by the configuration of now.
class ClientAccess {
 public:
  /// Both outlive this one.
  ClientAccess(Context& context, const Peer& peer) : context_(context), peer_(peer) {}

  bool has_rules() const { return !context_.config.access.rules.empty(); }
  /// Looks through the rules, which counts as work of the turn: what may be long asks `TurnWork::may_check` before.
  bool may(Right right, std::string_view group);
  bool may_be_called(std::string_view name) const {
    return spindled::may_be_called(context_.config.access, peer_, name);
  }
  /// That the client `name` may not do `what` with a group. The log has its own bound for lines of a kind.
  void log_denied(std::string_view what, std::string_view group, std::string_view name) const;

 private:
  Context& context_;
  const Peer& peer_;
  std::uint64_t version_ = 0;  // of the configuration that `patterns_` is of
  std::size_t patterns_ = 0;
  std::size_t looked_at_ = 0;  // patterns that are no unit of TurnWork yet
};

}  // namespace spindled
