// The phase of a coordinator that has committed and waits until every member has pushed.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/view/phases.h"
#include "daemon/view/waiting_replies.h"

namespace spindled {

class Collecting final : public WaitingReplies {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::collecting;

  explicit Collecting(const std::vector<DaemonId>& members)
      : WaitingReplies(members.size()), pushed_to_(members.size()) {}

  /// bad_argument for a Done that is not that of a member, comes again, or counts what was pushed to nobody.
  Result<void> accept(const std::vector<DaemonId>& members, const Done& done);

  /// Once complete: what was pushed to each member.
  const std::vector<std::uint64_t>& pushed_to() const { return pushed_to_; }

 private:
  std::vector<std::uint64_t> pushed_to_;
};

}  // namespace spindled
