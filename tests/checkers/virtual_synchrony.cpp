#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

using spindle::ViewCause;

/// What one client delivered to a group between two of its views.
struct Segment {
  const ClientHistory* client = nullptr;
  const GroupView* start = nullptr;
  const GroupView* end = nullptr;
  std::set<MessageKey> messages;
};

/// All segments of the run, by group and the two views.
using Segments = std::map<std::string, std::vector<Segment>>;

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_boundary(const GroupView& view, bool ordered) { return ordered || view.cause == ViewCause::network; }

/// With `ordered`: ordered messages between any two views; without: reliable and fifo ones between views of the
/// network.
void collect(const ClientHistory& client, bool ordered, Segments& segments) {
  std::map<std::string, Segment> open;
  for (const Event& event : client.events) {
    if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      open.erase(leave->group);
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      if (!is_boundary(*view, ordered)) {
        // One whose leaving took effect behind the view that its part began with.
        if (!is_in(view->members, client.name)) open.erase(view->group);
        continue;
      }
      if (const auto found = open.find(view->group); found != open.end()) {
        Segment segment = std::move(found->second);
        segment.end = view;
        segments[view->group + " " + to_text(segment.start->id) + " " + to_text(view->id)].push_back(segment);
      }
      // The last view of one who leaves ends its part in the group.
      open.erase(view->group);
      if (is_in(view->members, client.name)) open[view->group] = Segment{&client, view, nullptr, {}};
    } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      const Service service = delivered->message.service;
      if (service == Service::unreliable || is_ordered(service) != ordered) continue;
      for (const std::string& group : delivered->message.groups) {
        if (const auto found = open.find(group); found != open.end()) {
          found->second.messages.insert(key_of(delivered->message));
        }
      }
    }
  }
}

bool moved_together(const Segment& a, const Segment& b) {
  if (a.end->cause != ViewCause::network) return true;
  return is_in(a.end->vs_set, b.client->name) && is_in(b.end->vs_set, a.client->name);
}

void compare(const Segment& a, const Segment& b, const SentIndex& index, Violations& violations) {
  std::vector<MessageKey> difference;
  std::set_symmetric_difference(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                                std::back_inserter(difference));
  for (const MessageKey& key : difference) {
    const auto found = index.entries.find(key);
    if (found == index.entries.end()) continue;  // check_no_invention speaks of it
    const Sent& sent = *found->second.sent;
    const bool is_own = key.first == a.client->name || key.first == b.client->name;
    if (sent.self_discard && is_own) continue;
    const bool a_has_it = a.messages.contains(key);
    report(violations,
           fmt::format("virtual synchrony: {} got {} in {} between views {} and {}, {} did not",
                       a_has_it ? a.client->name : b.client->name, to_text(sent.message), a.start->group,
                       to_text(a.start->id), to_text(a.end->id), a_has_it ? b.client->name : a.client->name));
    return;
  }
}

}  // namespace

Violations check_virtual_synchrony(const History& history) {
  Violations violations;
  const SentIndex index(history);
  for (const bool ordered : {true, false}) {
    Segments segments;
    for (const ClientHistory& client : history.clients) collect(client, ordered, segments);
    for (const auto& entry : segments) {
      const std::vector<Segment>& same = entry.second;
      for (std::size_t i = 1; i < same.size(); ++i) {
        // Moving together is an equivalence: one of the others stands for all of its kind.
        const auto other = std::find_if(same.begin(), same.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const Segment& each) { return moved_together(each, same[i]); });
        if (other != same.begin() + static_cast<std::ptrdiff_t>(i)) compare(*other, same[i], index, violations);
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
