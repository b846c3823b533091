// How a second connection of a client proves to be of its session.
#pragma once

#include <optional>

#include "daemon/group/operations.h"
#include "libclient/protocol/bulk_requests.h"

namespace spindled {

using SessionToken = decltype(spindle::protocol::BulkToken::token);

/// Implemented by the sessions.
class SessionTokens {
 public:
  virtual ~SessionTokens() = default;
  /// The session, where it is there and was given that token (`bulk_token`). Takes as long whatever is wrong with it.
  virtual std::optional<SessionId> session_by_token(SessionId session, const SessionToken& token) const = 0;
};

}  // namespace spindled
