// Which members have answered, in a phase of a coordinator that waits for all of them.
#pragma once

#include <vector>

#include "daemon/base/result.h"
#include "daemon/wire/control.h"

namespace spindled {

class WaitingReplies {
 public:
  bool is_complete() const { return missing_ == 0; }
  bool is_missing(MemberIndex member) const { return !answered_[member]; }

 protected:
  explicit WaitingReplies(std::size_t members) : answered_(members), missing_(members) {}

  /// The index of `who` among `members`; bad_argument where it is none of them, or has answered.
  Result<MemberIndex> find(const std::vector<DaemonId>& members, const DaemonId& who) const;
  /// `member` was missing.
  void answered(MemberIndex member) {
    answered_[member] = true;
    --missing_;
  }

 private:
  std::vector<bool> answered_;
  std::size_t missing_;
};

}  // namespace spindled
