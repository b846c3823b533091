#include "daemon/net/tokens.h"

#include <fmt/format.h>

#include "daemon/config/schema.h"
#include "libclient/common/token.h"
#include "libclient/tls/token_digest.h"

namespace spindled {

Tokens::Tokens(const std::vector<TokenConfig>& tokens) {
  for (const TokenConfig& token : tokens) by_digest_.emplace(token.sha256, Entry{token.name, token.until});
}

/// How long the look in the map takes depends on the digest of what came, and tells nothing of a token that is known:
/// whoever tries cannot choose the digests of what he sends, and has 2^256 texts to try. So nothing has to be compared
/// in constant time.
Result<Tokens::Known> Tokens::find(std::string_view text, spindle::WallTime now) const {
  const std::string digest = spindle::is_token(text) ? spindle::token_digest(text) : std::string();
  const auto found = by_digest_.find(digest);
  if (found == by_digest_.end()) return fail(Errc::token_unknown);
  const auto& [name, until] = found->second;
  if (until && std::chrono::floor<std::chrono::days>(now) > *until) {
    return fail(Errc::token_expired,
                fmt::format("the token {} has expired: it counted until {}", name, toml_date(*until)));
  }
  return Known{fmt::format("token:{}", name), digest};
}

}  // namespace spindled
