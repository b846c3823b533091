// The phase of a coordinator that has told all how much was pushed and waits until every member has received as much.
#pragma once

#include <vector>

#include "daemon/view/phases.h"
#include "daemon/view/waiting_replies.h"

namespace spindled {

class Confirming final : public WaitingReplies {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::confirming;

  explicit Confirming(const std::vector<DaemonId>& members) : WaitingReplies(members.size()) {}

  /// bad_argument for a Received that is not that of a member, or comes again.
  Result<void> accept(const std::vector<DaemonId>& members, const Received& received);
};

}  // namespace spindled
