#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

Violations check_self_delivery(const History& history) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    if (client.is_closed()) continue;
    std::set<std::string> left;  // groups that the client ever asked to leave
    for (const LeaveRequested* leave : events_of<LeaveRequested>(client)) left.insert(leave->group);
    std::set<MessageKey> delivered;
    for (const Delivered* each : events_of<Delivered>(client)) delivered.insert(key_of(each->message));

    std::set<std::string> groups{client.name};
    for (const Event& event : client.events) {
      if (const auto* view = std::get_if<GroupView>(&event.what); view != nullptr && !left.contains(view->group)) {
        groups.insert(view->group);
      }
      const auto* sent = std::get_if<Sent>(&event.what);
      if (sent == nullptr || sent->self_discard || sent->message.service == Service::unreliable) continue;
      const bool is_member = std::any_of(sent->message.groups.begin(), sent->message.groups.end(),
                                         [&](const std::string& group) { return groups.contains(group); });
      if (!is_member || delivered.contains(key_of(sent->message))) continue;
      report(violations, fmt::format("self-delivery: {} never got its {}", client.name, to_text(sent->message)));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
