// The phase of a coordinator that has told all how much was pushed and waits until every member has received as much.
#pragma once

#include <vector>

#include "daemon/base/result.h"
#include "daemon/view/phases.h"
#include "daemon/wire/control.h"

namespace spindled {

class Confirming {
 public:
  static constexpr CoordinatorPhase kPhase = CoordinatorPhase::confirming;

  explicit Confirming(const std::vector<DaemonId>& members) : received_(members.size()), missing_(members.size()) {}

  /// bad_argument for a Received that is not that of a member, or comes again.
  Result<void> accept(const std::vector<DaemonId>& members, const Received& received);

  bool is_complete() const { return missing_ == 0; }
  bool is_missing(MemberIndex member) const { return !received_[member]; }

 private:
  std::vector<bool> received_;
  std::size_t missing_;
};

}  // namespace spindled
