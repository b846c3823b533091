// The tokens by which clients prove who they are, as the configuration has them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/config/daemon_config.h"
#include "libclient/tls/certificate_time.h"

namespace spindled {

/// Nothing here reads the clock: whoever calls says what time it is.
class Tokens {
 public:
  /// One that counts.
  struct Known {
    std::string identity;  // "token:web"
    std::string digest;    // by which `has` knows it again
  };

  Tokens() = default;
  explicit Tokens(const std::vector<TokenConfig>& tokens);

  bool empty() const { return by_digest_.empty(); }
  /// Whose `text` is, which may be any bytes. Or token_unknown, also of what has not the form of a token, or
  /// token_expired.
  Result<Known> find(std::string_view text, spindle::WallTime now) const;
  /// Whether the token is still here, be it that it has expired.
  bool has(const std::string& digest) const { return by_digest_.contains(digest); }

 private:
  struct Entry {
    std::string name;
    std::optional<std::chrono::sys_days> until;  // the last day
  };

  std::map<std::string, Entry> by_digest_;
};

}  // namespace spindled
