// A view of a synchronous group that waits for this daemon's members.
#pragma once

#include <map>
#include <set>

#include "daemon/base/member_set.h"
#include "daemon/base/time.h"
#include "daemon/group/told_groups.h"

namespace spindled {

/// Of a group whose view is pending, where local members have one: there is one from the first change of the group on
/// until its view stands. It outlives views of the daemons.
struct PendingView {
  ToldGroup told;      // the view that they have
  MemberSet together;  // daemons whose members have the same one, and have come along with this daemon since
  struct Asked {
    Time until{};                // it is waited for its answer
    std::uint64_t request = 0;   // which says so
    bool has_more_time = false;  // it has had as much again
  };
  std::map<SessionId, Asked> asked;  // to stop sending: those that have not answered
  std::set<SessionId> answered;
  Time due = kNever;         // when to look whether one of those asked is overdue
  bool has_flushed = false;  // this daemon has said, in this view of the daemons, that all have answered
};

}  // namespace spindled
