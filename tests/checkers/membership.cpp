#include <algorithm>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// Where a client that is still connected stands with a group.
struct Standing {
  bool wanted = false;              // its last request was to join
  bool known = true;                // nothing was refused for a reason that lies elsewhere, and no rules had it leave
  int joined = 0;                   // joins that were not refused, less leaves: also where rules had it leave
  int leaves_open = 0;              // that it asked for and has not seen done
  int taken_out = 0;                // times that its daemon had it leave and it has not seen that done
  int leaves_void = 0;              // of these may have ended nothing, as the join before them was refused
  const GroupView* last = nullptr;  // the latest view that it got
};

using Standings = std::map<std::string, Standing>;

Standings standings_of(const ClientHistory& client) {
  Standings standings;
  for (const Event& event : client.events) {
    if (const auto* join = std::get_if<JoinRequested>(&event.what)) {
      standings[join->group].wanted = true;
      ++standings[join->group].joined;
    } else if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      Standing& standing = standings[leave->group];
      --standing.joined;
      // Whether what it asked for last came before that or behind is told by what was refused alone.
      if (leave->by_rules) {
        standing.known = false;
        ++standing.taken_out;
        continue;
      }
      standing.wanted = false;
      ++standing.leaves_open;
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      Standing& standing = standings[view->group];
      standing.last = view;
      if (is_in(view->members, client.name)) continue;
      // While one that it asked for is open its daemon has it leave nothing.
      if (standing.taken_out > 0) {
        --standing.taken_out;
      } else if (standing.leaves_open > 0) {
        --standing.leaves_open;
      }
    } else if (const auto* refused = std::get_if<Refused>(&event.what)) {
      const auto code = static_cast<Errc>(refused->code);
      Standing& standing = standings[refused->group];
      standing.joined += code == Errc::not_a_member ? 1 : -1;
      if (code == Errc::not_a_member && standing.leaves_open > 0) --standing.leaves_open;
      if (code != Errc::already_a_member && code != Errc::not_a_member) standing.known = false;
      // Another has founded the group before the join came out of the order: a leave that was asked for meanwhile finds
      // nobody, and nothing tells of it.
      if (code == Errc::mode_mismatch && standing.leaves_open > 0) {
        --standing.leaves_open;
        ++standing.leaves_void;
      }
    }
  }
  return standings;
}

}  // namespace

Violations check_membership(const History& history) {
  Violations violations;
  std::map<std::string, Standings> open;  // by client
  std::set<std::string> closed;
  for (const ClientHistory& client : history.clients) {
    if (client.is_closed()) {
      closed.insert(client.name);
    } else {
      open.emplace(client.name, standings_of(client));
    }
  }
  for (const auto& [client, standings] : open) {
    for (const auto& [group, standing] : standings) {
      const bool is_member = standing.last != nullptr && is_in(standing.last->members, client);
      const bool wanted = standing.known ? standing.wanted : standing.joined > 0;
      const bool may_be_member = wanted || (!standing.known && standing.joined + standing.leaves_void > 0);
      if (is_member ? !may_be_member : wanted) {
        report(violations, fmt::format("membership: the last that {} asked was to {} {}, and it is {} member", client,
                                       wanted ? "join" : "leave", group, is_member ? "still a" : "no"));
      }
      if (!is_member) continue;
      for (const std::string& member : standing.last->members) {
        if (closed.contains(member) && !open.contains(member)) {
          report(violations,
                 fmt::format("membership: to {}, {} is still in {}, although it is gone", client, member, group));
        }
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
