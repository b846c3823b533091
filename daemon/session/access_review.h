// What new rules mean for those who are members already.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/group/groups.h"
#include "daemon/session/session_table.h"

namespace spindled {

/// After the rules have changed: closes the feeds that clients may send no longer, and has every client leave the
/// groups that it may join no longer, and with them the feeds of others; and tells it so. In pieces, as there may be
/// many clients, groups and rules.
class AccessReview {
 public:
  AccessReview(Context& context, Groups& groups, SessionTable& sessions)
      : context_(context), groups_(groups), sessions_(sessions) {}

  /// Begins anew, with all clients of now: who comes later is judged by the new rules anyway.
  void start();
  bool is_under_way() const { return !left_.empty(); }
  /// Goes on as far as the turn has room.
  void go_on(Time now);

 private:
  /// Finds out which groups the first client is in.
  void list(Time now, Session& session);
  void next_client();
  void review(Time now, Session& session, std::string_view group);

  Context& context_;
  Groups& groups_;
  SessionTable& sessions_;
  std::deque<SessionId> left_;  // the first one's groups are being looked at
  bool is_listed_ = false;
  std::vector<std::string> asked_for_;  // of these, those that are left
  std::vector<GroupId> joined_;         // and their numbers,
  std::uint64_t table_ = 0;             // which are those of one table (Groups::tables_completed)
};

}  // namespace spindled
