// All who are told of members.
#pragma once

#include <vector>

#include "daemon/group/membership_observer.h"

namespace spindled {

/// Tells each of them, in the order in which they were added.
class MembershipObservers final : public MembershipObserver {
 public:
  /// It outlives this one's last call.
  void add(MembershipObserver& observer) { observers_.push_back(&observer); }

  void member_came(Time now, const Group& group, SessionId session) override {
    for (MembershipObserver* each : observers_) each->member_came(now, group, session);
  }
  void member_left(Time now, std::uint64_t position, const Group& group, MemberIndex daemon,
                   SessionId session) override {
    for (MembershipObserver* each : observers_) each->member_left(now, position, group, daemon, session);
  }
  void member_leaves(Time now, SessionId session) override {
    for (MembershipObserver* each : observers_) each->member_leaves(now, session);
  }
  void view_began(Time now, const GroupTable::Renumbering& to, const MemberSet& came_along) override {
    for (MembershipObserver* each : observers_) each->view_began(now, to, came_along);
  }
  void table_completed(Time now) override {
    for (MembershipObserver* each : observers_) each->table_completed(now);
  }
  void opened(Time now) override {
    for (MembershipObserver* each : observers_) each->opened(now);
  }

 private:
  std::vector<MembershipObserver*> observers_;
};

}  // namespace spindled
