#include <fmt/ranges.h>

#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

Violations check_member_delivery(const History& history) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    std::set<std::string_view> memberships{client.name};  // one's own name is a group of one
    for (const Event& event : client.events) {
      if (const auto* view = std::get_if<GroupView>(&event.what)) {
        const bool is_member =
            std::find(view->members.begin(), view->members.end(), client.name) != view->members.end();
        if (is_member) {
          memberships.insert(view->group);
        } else {
          memberships.erase(view->group);
        }
      }
      const auto* delivered = std::get_if<Delivered>(&event.what);
      if (delivered == nullptr) continue;
      const std::vector<std::string>& groups = delivered->message.groups;
      const bool is_for_it = std::any_of(groups.begin(), groups.end(),
                                         [&](const std::string& group) { return memberships.contains(group); });
      if (is_for_it) continue;
      report(violations, fmt::format("member delivery: {} got {} to {} without being a member", client.name,
                                     to_text(delivered->message), fmt::join(groups, ",")));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
