#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"
#include "tests/checkers/sending_views.h"

namespace spindled::checkers {

namespace {

using spindle::ViewCause;

/// What one client delivered to a group between two of its views.
struct Segment {
  const ClientHistory* client = nullptr;
  const GroupView* start = nullptr;
  const GroupView* end = nullptr;
  bool signalled = false;              // part of it came behind a transitional signal
  const GroupView* network = nullptr;  // where `end` has another cause: the first view with that one behind it
  std::set<MessageKey> messages;
  std::uint64_t gaps = 0;  // messages that it was told to have missed
};

/// All segments of the run, by group and the two views.
using Segments = std::map<std::string, std::vector<Segment>>;

/// What of one client's part in a group is not complete yet.
struct Open {
  Segment segment;
  std::vector<Segment> ended;  // by views that are not of the network, since the last one that is
};
/// Groups with a signal that the network's next view has yet to end.
using Signalled = std::set<std::string>;

std::string key_of_segment(const Segment& segment) {
  return segment.end->group + " " + to_text(segment.start->id) + " " + to_text(segment.end->id);
}

/// The segments that ended since the network's last view: `network` is its next one, or nothing where the client's
/// part in the group has ended.
void complete(Open& open, const GroupView* network, Segments& segments) {
  for (Segment& segment : open.ended) {
    segment.network = network;
    segments[key_of_segment(segment)].push_back(std::move(segment));
  }
  open.ended.clear();
}

bool is_boundary(const GroupView& view, bool ordered) { return ordered || view.cause == ViewCause::network; }

void take_view(const ClientHistory& client, const GroupView& view, bool is_member, std::map<std::string, Open>& opens,
               Signalled& signalled, Segments& segments) {
  const bool of_network = view.cause == ViewCause::network;
  if (of_network) signalled.erase(view.group);
  const auto found = opens.find(view.group);
  if (found == opens.end() && !is_member) return;
  Open& open = opens[view.group];
  if (found != opens.end()) {
    open.segment.end = &view;
    open.ended.push_back(std::move(open.segment));
    if (of_network) complete(open, &view, segments);
  }
  open.segment = Segment{&client, &view, nullptr, signalled.contains(view.group), nullptr, {}, 0};
}

/// Of what is sent to a synchronous group only the messages of members are to be in one view, where they are not
/// ordered. And to who has not the sender's view one may have come under another name.
bool counts(const MessageRecord& message, bool ordered, const GroupView& start, const SendingViews& sending) {
  if (!start.synchronous) return true;
  const auto sent = sending.find(key_of(message));
  return message.groups.size() == 1 && (ordered || (sent != sending.end() && sent->second.contains(start.group)));
}

/// With `ordered`: ordered messages between any two views; without: reliable and fifo ones between views of the
/// network.
void collect(const ClientHistory& client, const SendingViews& sending, bool ordered, Segments& segments) {
  std::map<std::string, Open> open;
  Signalled signalled;
  const auto end_part = [&](const std::string& group) {
    const auto found = open.find(group);
    if (found == open.end()) return;
    complete(found->second, nullptr, segments);
    open.erase(found);
  };
  for (const Event& event : client.events) {
    if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      end_part(leave->group);
    } else if (const auto* signal = std::get_if<Transitional>(&event.what)) {
      signalled.insert(signal->group);
      if (const auto found = open.find(signal->group); found != open.end()) found->second.segment.signalled = true;
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      const bool is_member = is_in(view->members, client.name);
      if (is_boundary(*view, ordered)) take_view(client, *view, is_member, open, signalled, segments);
      // The last view of one who leaves ends its part in the group.
      if (!is_member) end_part(view->group);
    } else if (const auto* gap = std::get_if<Gapped>(&event.what)) {
      for (auto& [group, part] : open) {
        const auto found = gap->of_name.find(group);
        part.segment.gaps += gap->unlisted + (found == gap->of_name.end() ? 0 : found->second);
      }
    } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      const Service service = delivered->message.service;
      if (service == Service::unreliable || is_ordered(service) != ordered) continue;
      for (const std::string& group : delivered->message.groups) {
        const auto found = open.find(group);
        if (found == open.end()) continue;
        Segment& segment = found->second.segment;
        if (!counts(delivered->message, ordered, *segment.start, sending)) continue;
        segment.messages.insert(key_of(delivered->message));
      }
    }
  }
  for (auto& entry : open) complete(entry.second, nullptr, segments);
}

/// Behind a signal changes of membership are told among those who stay together, and what they hold for is known with
/// the network's next view.
bool moved_together(const Segment& a, const Segment& b) {
  const bool of_network = a.end->cause == ViewCause::network;
  if (!of_network && !a.signalled && !b.signalled) return true;
  if (a.network == nullptr || b.network == nullptr || to_text(a.network->id) != to_text(b.network->id)) return false;
  return is_in(a.network->vs_set, b.client->name) && is_in(b.network->vs_set, a.client->name);
}

void compare(const Segment& a, const Segment& b, const SentIndex& index, Violations& violations) {
  std::vector<MessageKey> difference;
  std::set_symmetric_difference(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                                std::back_inserter(difference));
  std::uint64_t missed_by_a = 0, missed_by_b = 0;
  for (const MessageKey& key : difference) {
    const auto found = index.entries.find(key);
    if (found == index.entries.end()) continue;  // check_no_invention speaks of it
    const Sent& sent = *found->second.sent;
    const bool is_own = key.first == a.client->name || key.first == b.client->name;
    if (sent.self_discard && is_own) continue;
    const bool a_has_it = a.messages.contains(key);
    if (a_has_it ? ++missed_by_b <= b.gaps : ++missed_by_a <= a.gaps) continue;
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
  const SendingViews sending = sending_views_of(history);
  for (const bool ordered : {true, false}) {
    Segments segments;
    for (const ClientHistory& client : history.clients) collect(client, sending, ordered, segments);
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
