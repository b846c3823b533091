// What all daemons agree on of a synchronous group, beside who its members are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "daemon/base/member_set.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

struct MemberSession;

/// The members of a synchronous group change in the table where the order says so, as those of any group. Its view
/// follows later: it is *pending* from the first change on, and *stands* where the last daemon has said that all of its
/// members that have a view have stopped sending in it (the operation Flushed).
struct Synchrony {
  bool is_pending() const { return causes_ != 0; }
  void pend(spindle::ViewCause cause) { causes_ |= bit_of(cause); }
  /// Of the view that is pending. Where there are several, the one that says most: who is new has missed what came
  /// before.
  spindle::ViewCause cause() const {
    using Cause = spindle::ViewCause;
    for (const Cause cause : {Cause::network, Cause::join, Cause::disconnect}) {
      if ((causes_ & bit_of(cause)) != 0) return cause;
    }
    return Cause::leave;
  }
  /// The view stands at `position` of the order; 0: it came with that of the daemons.
  void stand(std::uint64_t position) {
    causes_ = 0;
    ++round;
    since = position;
    flushed = MemberSet();
    newcomers.clear();
    left.clear();
  }
  /// A view of the daemons begins, in which nobody has said anything yet. Names of those who left are told from what
  /// members know then.
  void restart() {
    round = since = 0;
    flushed = MemberSet();
    left.clear();
  }

  std::uint64_t round = 0;  // views that have stood in this view of the daemons
  std::uint64_t since = 0;  // place in the order of the last of them
  MemberSet flushed;        // daemons whose members have stopped sending in the view before the one that is pending
  std::unordered_set<const MemberSession*> newcomers;  // members without a view; never iterated
  std::vector<std::string> left;                       // members of the last view that have left since

 private:
  static std::uint8_t bit_of(spindle::ViewCause cause) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(cause));
  }

  std::uint8_t causes_ = 0;  // of the changes since the last view stood
};

}  // namespace spindled
