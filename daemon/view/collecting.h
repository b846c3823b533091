// The phase of a coordinator that has committed and waits until every member has pushed.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/view/phases.h"
#include "daemon/wire/control.h"

namespace spindled {

class Collecting {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::collecting;

  explicit Collecting(const std::vector<DaemonId>& members) : done_(members.size()), pushed_to_(members.size()) {}

  /// bad_argument for a Done that is not that of a member, comes again, or counts what was pushed to nobody.
  Result<void> accept(const std::vector<DaemonId>& members, const Done& done);

  bool is_complete() const { return received_ == done_.size(); }
  bool is_missing(MemberIndex member) const { return !done_[member]; }

  /// Once complete: what was pushed to each member.
  const std::vector<std::uint64_t>& pushed_to() const { return pushed_to_; }

 private:
  std::vector<bool> done_;
  std::vector<std::uint64_t> pushed_to_;
  std::size_t received_ = 0;
};

}  // namespace spindled
